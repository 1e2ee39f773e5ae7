// Reductions that are computed by blocks of rows of the nest that reads them:
//
//   Y  (b,h,i.0) parallel, i.1, i.2, ...        split Y i [f0, f1 * f2]
//   C  at i.1: j.0, i.0, k, i.1, j.1            split C i [f2]: rows in registers
#pragma once

#include "space/layout_context.h"
#include "space/plain_layout.h"

namespace tilewright::space {

// `loops` are those of the root, laid out with RowBlocks::Shared. The hole of the rows fills the
// splits of both stages.
TiledStage lay_out_rows(const LayoutContext& layout, const RowStage& rowed,
                        const PlainLoops& loops);

}  // namespace tilewright::space
