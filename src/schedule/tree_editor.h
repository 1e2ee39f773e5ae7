// TreeEditor: what steps do to the structure of a LoopTree. Each step is checked as far as it can
// be where it stands; what depends on later steps (readers within the attach loop, parallel inside
// parallel, packed buffers that their reader reads) is checked by `check_structure` when all are
// in.
#pragma once

#include <span>

#include "schedule/illegal.h"
#include "schedule/loop_tree.h"

namespace tilewright::schedule {

class TreeEditor {
 public:
  explicit TreeEditor(LoopTree& tree) : tree_(tree) {}

  LoopTree& tree() { return tree_; }
  int16_t step() const { return step_; }
  void set_step(int16_t step) { step_ = step; }

  Illegal reject(IllegalCode code, StageName stage, Name loop = {}, int64_t a = 0,
                 int64_t b = 0) const {
    return {code, step_, stage, loop, a, b};
  }

  // The stage by name; `find_scheduled` wants one that has loops: no input, not inlined.
  Illegal find_stage(StageName name, StageIndex* stage) const;
  Illegal find_scheduled(StageName name, StageIndex* stage) const;
  Illegal find_loop(StageIndex stage, Name name, VarIndex* loop) const;

  // How many parts a split made of a loop of the stage.
  Illegal find_split(StageName stage, Name loop, int* parts) const;

  // Refuses when stages are attached to the loop or it is annotated: it would lose its identity.
  Illegal check_unused(StageIndex stage, VarIndex loop) const;
  // Refuses when the stage has been given steps of its own (its loops are no longer its axes).
  Illegal check_fresh(StageIndex stage) const;

  // Refuses when there are as many stages as a LoopTree holds.
  Illegal check_room(StageName name) const;

  VarIndex add_var(const LoopVar& var);
  // Puts `replacement` where `count` loops from `position` are.
  bool replace_loops(StageIndex stage, size_t position, size_t count,
                     std::span<const VarIndex> replacement);
  // A new stage directly before or after another in `order`.
  StageIndex add_stage(const Stage& stage, StageIndex neighbor, bool before);
  BufferIndex add_buffer(const Buffer& buffer);
  // A new axis variable of a stage, with a loop for it innermost.
  VarIndex add_axis(StageIndex stage, Name name, IterKind kind);
  // Appends an access of `reader` that takes each dimension at the reader's axis of that number.
  void add_identity_access(StageIndex reader, BufferIndex buffer);
  // Replaces accesses of `reader` to `stage`'s buffer by that stage's own reads, composed.
  Illegal compose_accesses(StageIndex reader, StageIndex stage);

 private:
  LoopTree& tree_;
  int16_t step_ = -1;
};

// May the buffer be laid out for this reader: does it read it once, each dimension by one axis?
Illegal check_packable(const LoopTree& tree, BufferIndex buffer, StageIndex reader);
// An index that is one axis of the reader: its loops are the digits of a packed dimension. Of a
// constant other dimensions stay whole, outermost.
bool is_one_axis(const AccessDim& dim);

// Positions of loops, and the rules that hold for a finished structure.
Illegal check_structure(LoopTree& tree);

}  // namespace tilewright::schedule
