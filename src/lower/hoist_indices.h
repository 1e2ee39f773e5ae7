// Index strength reduction. The index of each access, a sum, is split by where its terms are known.
// The part that is invariant in the loop around the access is bound by Lets as far out as possible,
// level by level, and shared by all accesses with the same part. The term of the loop itself is
// bound at the top of its body, once per coefficient. Constants stay in the access.
//
//   for i < 4:                                  for i < 4:
//     for k < 256:                         ->     let i.p = i * 3584
//       ... A[i * 3584 + k + 775] ...             for k < 256:
//       ... B[k * 32 + 16] ...                      let k.p = k * 32
//                                                   ... A[i.p + k + 775] ... B[k.p + 16] ...
//
// Factors that are not affine (quotients, remainders by constants) are bound where their variables
// are known. An index that contains a load is unchanged.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void hoist_indices(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
