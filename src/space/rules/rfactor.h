// rfactor: long reductions with few results are factored. It makes two drafts: the outer part of a
// reduce axis is factored, for threads, or the inner part, for the lanes of a vector.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule rfactor_rule();

}  // namespace tilewright::space
