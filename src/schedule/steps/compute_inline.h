// compute_inline: computes the elements of a stage where they are read; the stage has no loops and
// no buffer.
//
//   compute_inline P
//   for y < 16:              ->  for i < 14:
//     P[y] = max(X[y], 0)          C[i] = max(X[i + 1], 0)
//   for i < 14:
//     C[i] = P[i + 1]
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct ComputeInline {
  StageName stage;

  static constexpr std::string_view kTag = "compute_inline";
  static constexpr auto fields() { return std::tuple(required("stage", &ComputeInline::stage)); }
  bool operator==(const ComputeInline&) const = default;
};

Illegal apply_step(TreeEditor& editor, const ComputeInline& step);

}  // namespace tilewright::schedule
