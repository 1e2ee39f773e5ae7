// Which tile shapes a stage gets: alone, or inside of its elementwise reader.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule tile_and_fuse_rule();
SketchRule tile_rule();

}  // namespace tilewright::space
