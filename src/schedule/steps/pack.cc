#include "schedule/steps/pack.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Pack& step) {
  StageIndex stage = kNone;
  StageIndex reader = kNone;
  if (const Illegal illegal = editor.find_stage(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_scheduled(step.reader, &reader)) return illegal;
  LoopTree& tree = editor.tree();
  if (tree.stage(stage).place == Place::Inlined) {
    return editor.reject(IllegalCode::StageIsInlined, step.stage);
  }
  if (tree.stage(stage).buffers > 1) return editor.reject(IllegalCode::MultipleOutputs, step.stage);
  Buffer& buffer = tree.buffer(tree.stage(stage).first_buffer);
  if (buffer.is_argument && !buffer.is_constant) {
    const bool input = tree.stage(stage).kind == StageKind::Input;
    return editor.reject(input ? IllegalCode::PackInput : IllegalCode::PackOutput, step.stage);
  }
  if (buffer.packed_for != kNone) return editor.reject(IllegalCode::AlreadyPacked, step.stage);

  // Each dimension must be one axis of the reader, and each axis at most one dimension.
  const Stage& r = tree.stage(reader);
  bool reads = false;
  uint32_t axes_seen = 0;
  for (int k = 0; k < r.accesses; ++k) {
    const Access& access = tree.accesses[static_cast<size_t>(r.first_access + k)];
    if (access.buffer != tree.stage(stage).first_buffer) continue;
    if (reads) return editor.reject(IllegalCode::PackIndex, step.reader);
    reads = true;
    for (int d = 0; d < access.rank; ++d) {
      const AccessDim& dim = tree.dims[static_cast<size_t>(access.first_dim + d)];
      const bool single = dim.affine && dim.index.constant == 0 && dim.index.terms.size() <= 1;
      if (!single) return editor.reject(IllegalCode::PackIndex, step.reader, {}, d);
      if (dim.index.terms.empty()) continue;
      const arith::Term& term = dim.index.terms[0];
      const uint32_t bit = uint32_t{1} << term.var;
      if (term.coefficient != 1 || (axes_seen & bit) != 0) {
        return editor.reject(IllegalCode::PackIndex, step.reader, {}, d);
      }
      axes_seen |= bit;
    }
  }
  if (!reads) return editor.reject(IllegalCode::NotAReader, step.reader);
  buffer.packed_for = reader;
  buffer.pack_step = editor.step();
  return {};
}

}  // namespace tilewright::schedule
