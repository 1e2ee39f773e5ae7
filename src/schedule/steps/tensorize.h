// tensorize: a tensor intrinsic computes the innermost loops of a sum of products: its spatial
// loops (rows, lanes) and inside them its factors, a part of the reduction. `loop` is the outermost
// of them.
//
//   tensorize C j.1 vnni_dot_u8i8            C[i, j] = sum over k of i32(A[i, k]) * i32(B[k, j])
//   for j.1 < 16:                        ->  vnni_dot_u8i8 for j.1 < 16:
//     for k.1 < 4:                             for k.1 < 4:
//       C[i, j] += A[i, k] * B[k, j]             C[i, j] += A[i, k] * B[k, j]
//
// Operands lie in memory as the intrinsic wants them (schedule/intrinsics.h), which pack provides.
// Tiles that a tail leaves smaller are computed without the intrinsic.
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

// What only the finished tree can answer: do the loops, the operator and the layouts of all
// tensorized stages fit their intrinsics?
Illegal check_tensorized(const LoopTree& tree);

}  // namespace tilewright::schedule
