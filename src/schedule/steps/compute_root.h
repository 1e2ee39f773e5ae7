// compute_root: computes all of a stage before its readers; undoes compute_at.
//
//   compute_root P
//   for i.0 < 4:         ->  for y < 16:
//     for y < 6:               P[y] = ...
//       P[y] = ...           for i.0 < 4:
//     ... P ...                ... P ...
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct ComputeRoot {
  StageName stage;

  static constexpr std::string_view kTag = "compute_root";
  static constexpr auto fields() { return std::tuple(required("stage", &ComputeRoot::stage)); }
  bool operator==(const ComputeRoot&) const = default;
};

Illegal apply_step(TreeEditor& editor, const ComputeRoot& step);

}  // namespace tilewright::schedule
