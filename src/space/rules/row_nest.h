// row_nest: a reduction whose readers are computed row by row, such as the scores of a softmax, is
// computed in their nest, a block of rows at a time, so that the rows are in cache when they are
// read.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule row_nest_rule();

}  // namespace tilewright::space
