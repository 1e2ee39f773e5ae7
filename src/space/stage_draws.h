// The two ways in which the loops of a stage are drawn: as tiles of a reduction whose operands are
// used again, or as rows and vectors of everything else. Both write steps into a sketch and give
// the loops at which producers may be attached.
#pragma once

#include <vector>

#include "schedule/axis_roles.h"
#include "space/sketch_writer.h"
#include "target/target.h"

namespace tilewright::space {

// Where producers of a stage may be computed, outside in.
struct AttachPoint {
  schedule::StageName stage;
  Name loop;
};

// What is known of a stage before its loops are drawn.
struct DrawnStage {
  const schedule::LoopTree* tree = nullptr;  // in which it has its axes for loops
  schedule::StageIndex index = schedule::kNone;
  const Target* target = nullptr;
  schedule::AxisRoles roles;

  const schedule::Stage& stage() const { return tree->stage(index); }
};

// A reduction in tiles. `reader`, if not kNone, takes it element by element and owns the tiles;
// else a cache_write may make such a reader.
std::vector<AttachPoint> draw_tiled(SketchWriter& writer, const DrawnStage& drawn,
                                    schedule::StageIndex reader);

// `lead` leading axes are outermost and one loop: the first attach point; 0: as it comes.
// An attached stage has no threads of its own.
std::vector<AttachPoint> draw_plain(SketchWriter& writer, const DrawnStage& drawn, int lead,
                                    bool attached);

// A reduction in parts that threads share, folded at the end.
std::vector<AttachPoint> draw_factored(SketchWriter& writer, const DrawnStage& drawn);

}  // namespace tilewright::space
