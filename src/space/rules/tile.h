// Selects the tile structures of a stage, computed separately or fused into its elementwise reader.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule tile_and_fuse_rule();
SketchRule tile_rule();

}  // namespace tilewright::space
