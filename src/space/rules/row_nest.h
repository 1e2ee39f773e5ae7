// row_nest: scores of a softmax and the like. A reduction whose readers are computed row by row is
// computed there too, some rows at a time, so that they are still in cache when they are read.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule row_nest_rule();

}  // namespace tilewright::space
