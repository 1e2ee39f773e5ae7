// A toy template: a matrix product in tiles, with knobs for the tile of each axis, its lanes and
// whether rows of tiles are unrolled.
#pragma once

#include "space/template.h"

namespace tilewright::toys {

space::TemplateRow toy_template();

}  // namespace tilewright::toys
