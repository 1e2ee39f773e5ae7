// TreeEditor: edits the structure of a LoopTree on behalf of steps. Each step is checked as far as
// possible when it is applied. Conditions that depend on later steps (readers within the attachment
// loop, parallel inside parallel, packed buffers that their reader reads) are checked by
// `check_structure` at the end.
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

  // Finds a stage by name; `find_scheduled` requires one with loops: neither an input nor inlined.
  Illegal find_stage(StageName name, StageIndex* stage) const;
  Illegal find_scheduled(StageName name, StageIndex* stage) const;
  Illegal find_loop(StageIndex stage, Name name, VarIndex* loop) const;

  // Finds what a prefetch names: a loop of a stage, and a buffer that the stage reads.
  Illegal find_prefetch(StageName stage, Name loop, StageName source,
                        PrefetchRequest* request) const;

  // Finds the number of parts of a split loop of the stage.
  Illegal find_split(StageName stage, Name loop, int* parts) const;

  // Rejects a loop that has attached stages or an annotation, which the edit would remove.
  Illegal check_unused(StageIndex stage, VarIndex loop) const;
  // Rejects a stage that steps have changed already (its loops are no longer its axes).
  Illegal check_fresh(StageIndex stage) const;

  // Rejects if the LoopTree has its maximum number of stages.
  Illegal check_room(StageName name) const;

  VarIndex add_var(const LoopVar& var);
  // Replaces `count` loops from `position` on by `replacement`.
  bool replace_loops(StageIndex stage, size_t position, size_t count,
                     std::span<const VarIndex> replacement);
  // Inserts a stage directly before or after another in `order`.
  StageIndex add_stage(const Stage& stage, StageIndex neighbor, bool before);
  BufferIndex add_buffer(const Buffer& buffer);
  // Adds an axis variable to a stage, with an innermost loop for it.
  VarIndex add_axis(StageIndex stage, Name name, IterKind kind);
  // Adds an access of `reader` whose dimension k is indexed by the reader's axis k.
  void add_identity_access(StageIndex reader, BufferIndex buffer);
  // Replaces the accesses of `reader` to the buffer of `stage` by the composed reads of that stage.
  Illegal compose_accesses(StageIndex reader, StageIndex stage);

 private:
  LoopTree& tree_;
  int16_t step_ = -1;
};

// Checks that the buffer can be packed for this reader: it reads it once, each dimension by one
// axis.
Illegal check_packable(const LoopTree& tree, BufferIndex buffer, StageIndex reader);
// True if the index is a single axis of the reader, whose loops are then the digits of a packed
// dimension. Other dimensions of a constant stay whole, outermost.
bool is_one_axis(const AccessDim& dim);

// Sets the positions of loops and checks the rules for a finished structure.
Illegal check_structure(LoopTree& tree);

}  // namespace tilewright::schedule
