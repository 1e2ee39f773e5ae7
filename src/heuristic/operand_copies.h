// Provides operands in the order in which a register tile reads them: constants are packed, and
// other operands are copied if the copy is reused often enough.
//
//   B[k, j] constant                       pack B C, prefetch_next C k B if it is large and little
//   used B[k, j] an input, one tile of columns  cache_read B [C], compute_at B.read C j.0, pack
//   B.read C
#pragma once

#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

// Applies to operands of `reader` that change with the lanes and not with the rows. A copy is
// attached to the outermost of the loops `outer` of `owner`, inside which the reader is computed.
void pack_operands(Tiling& tiling, schedule::StageIndex reader, const AxisRoles& roles,
                   schedule::StageIndex owner, const std::vector<Name>& outer);

// Copies those operands that lanes would access with gaps, completely and before the nest: squares
// of the lane dimension and the last dimension are transposed in registers.
void copy_gapped_operands(Tiling& tiling, schedule::StageIndex reader, const AxisRoles& roles);

}  // namespace tilewright::heuristic
