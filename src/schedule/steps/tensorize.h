// tensorize: replaces the innermost loops of a sum of products by a tensor intrinsic: its spatial
// loops (rows, lanes) and, inside them, its factors, which are a part of the reduction. `loop` is
// the outermost of them.
//
//   tensorize C j.1 vnni_dot_u8i8            C[i, j] = sum over k of i32(A[i, k]) * i32(B[k, j])
//   for j.1 < 16:                        ->  vnni_dot_u8i8 for j.1 < 16:
//     for k.1 < 4:                             for k.1 < 4:
//       C[i, j] += A[i, k] * B[k, j]             C[i, j] += A[i, k] * B[k, j]
//
// Operands must have the layout that the intrinsic expects (schedule/intrinsics.h), which pack
// provides. Smaller tiles of a tail are computed without the intrinsic.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Tensorize {
  StageName stage;
  Name loop;
  Name intrinsic;

  static constexpr std::string_view kTag = "tensorize";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Tensorize::stage), required("loop", &Tensorize::loop),
                      required("intrinsic", &Tensorize::intrinsic));
  }
  bool operator==(const Tensorize&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Tensorize& step);

// Checks on the finished tree: the loops, the operator and the layouts of all tensorized stages
// must match their intrinsics.
Illegal check_tensorized(const LoopTree& tree);

}  // namespace tilewright::schedule
