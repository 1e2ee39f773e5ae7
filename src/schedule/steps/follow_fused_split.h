// follow_fused_split: splits a fused loop by the product of the factors at one level of the splits
// of its members' namesakes (Ansor's FollowFusedSplit).
//
//   split Y y [4, 2]
//   split Y x [8, 2]
//   follow_fused_split P (y,x) Y [y, x] 0
//   for (y,x) < 900:   ->  for (y,x).0 < 29:
//     P ...                  for (y,x).1 < 32:      4 * 8
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct FollowFusedSplit {
  StageName stage;
  Name loop;
  StageName source;
  LoopList source_loops;
  int64_t level = 0;  // index of the factor in each source split
  Tail tail = Tail::Peel;

  static constexpr std::string_view kTag = "follow_fused_split";
  static constexpr auto fields() {
    return std::tuple(
        required("stage", &FollowFusedSplit::stage), required("loop", &FollowFusedSplit::loop),
        required("source", &FollowFusedSplit::source),
        required("source_loops", &FollowFusedSplit::source_loops),
        required("level", &FollowFusedSplit::level), optional("tail", &FollowFusedSplit::tail));
  }
  bool operator==(const FollowFusedSplit&) const = default;
};

Illegal apply_step(TreeEditor& editor, const FollowFusedSplit& step);

}  // namespace tilewright::schedule
