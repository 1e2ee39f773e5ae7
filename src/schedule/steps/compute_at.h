// compute_at: computes a stage inside a loop of one of its readers, only the region that one
// iteration needs.
//
//   compute_at P C i.0
//   for y < 16:          ->  for i.0 < 4:
//     P[y] = ...               for y < 6:           the rows that this i.0 reads
//   for i.0 < 4:                 P[y] = ...
//     for i.1 < 4:             for i.1 < 4:
//       ... P ...                ... P ...
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct ComputeAt {
  StageName stage;
  StageName target;
  Name loop;  // of the target

  static constexpr std::string_view kTag = "compute_at";
  static constexpr auto fields() {
    return std::tuple(required("stage", &ComputeAt::stage), required("target", &ComputeAt::target),
                      required("loop", &ComputeAt::loop));
  }
  bool operator==(const ComputeAt&) const = default;
};

Illegal apply_step(TreeEditor& editor, const ComputeAt& step);

}  // namespace tilewright::schedule
