// SketchDrawer: random structures for the schedules of a task, as sketches whose holes are tile
// sizes and steps that may be off. Multi-level tiles in Ansor's manner (SSRSRS: levels of spatial
// loops with levels of reductions between them; OSDI 2020, section 4.1), drawn with weights by how
// the workload reads its operands (schedule/axis_roles, schedule/nest_plan), never by what it is
// called or how large it is:
//
//   expressions      inlined where that computes little again; now and then not
//   tiled reductions cache_write or not, tiles in registers that hold at most as many sums as there
//                    are registers (mostly), constants packed, other operands copied and packed
//   the others       row by row with their readers, or at root; vectors, blocks, threads
//
// Most genomes of most sketches are legal; apply decides. Not to be shared between threads.
#pragma once

#include <memory>

#include "base/rng.h"
#include "schedule/loop_tree.h"
#include "schedule/sketch.h"
#include "task/workload.h"

namespace tilewright::space {

class SketchDrawer {
 public:
  // Task and tree outlive the drawer.
  SketchDrawer(const Task& task, const schedule::LoopTree& initial);
  ~SketchDrawer();
  SketchDrawer(const SketchDrawer&) = delete;
  SketchDrawer& operator=(const SketchDrawer&) = delete;

  schedule::Sketch draw(Rng& rng);

 private:
  struct Scratch;  // trees that are used again
  const Task& task_;
  const schedule::LoopTree& initial_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tilewright::space
