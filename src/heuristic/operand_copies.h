// Operands in the order in which a register tile reads them: constants are packed, others are
// copied where enough iterations use the copy again.
//
//   B[k, j] constant                       pack B C
//   B[k, j] an input, one tile of columns  cache_read B [C], compute_at B.read C j.0, pack B.read C
#pragma once

#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

// Those operands of `reader` that move with the lanes and stand still along the rows. A copy is
// made in the outermost of the loops `outer` of `owner`, inside of which the reader is computed.
void pack_operands(Tiling& tiling, schedule::StageIndex reader, const AxisRoles& roles,
                   schedule::StageIndex owner, const std::vector<Name>& outer);

// Those of them that lanes would walk with gaps, whole and before the nest: squares of the lanes'
// dimension and the last one are transposed in registers.
void copy_gapped_operands(Tiling& tiling, schedule::StageIndex reader, const AxisRoles& roles);

}  // namespace tilewright::heuristic
