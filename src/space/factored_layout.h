// Factored reductions (rfactor). The partial results are computed by several threads, or in the
// lanes of a vector.
//
//   Y.rfactor  k.0 parallel, i, k.1.0, k.1.1 vectorize     for threads
//   Y.rfactor  i parallel, k.0, k.1 vectorize              for lanes
//   Y          folds them
#pragma once

#include "space/layout_context.h"

namespace tilewright::space {

// Lays out the stage with the partial results and the stage that folds them.
void lay_out_factored(const LayoutContext& layout, const FactoredStage& factored);

}  // namespace tilewright::space
