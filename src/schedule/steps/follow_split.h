// follow_split: splits a loop with the factors of another split, so that the tiles of two stages
// have the same size. If `parts` is less than the source has, the innermost part gets the product
// of the rest (Ansor's FollowSplit).
//
//   split Y y [4, 2, 8]
//   follow_split P y Y y 3
//   for y < 70:        ->  for y.0 < 2:
//     P ...                  for y.1 < 4:
//                              for y.2 < 16:      factors [4, 2 * 8]
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct FollowSplit {
  StageName stage;
  Name loop;
  StageName source;  // the stage and the loop that was split
  Name source_loop;
  int64_t parts = 2;
  Tail tail = Tail::Peel;

  static constexpr std::string_view kTag = "follow_split";
  static constexpr auto fields() {
    return std::tuple(required("stage", &FollowSplit::stage), required("loop", &FollowSplit::loop),
                      required("source", &FollowSplit::source),
                      required("source_loop", &FollowSplit::source_loop),
                      required("parts", &FollowSplit::parts), optional("tail", &FollowSplit::tail));
  }
  bool operator==(const FollowSplit&) const = default;
};

Illegal apply_step(TreeEditor& editor, const FollowSplit& step);

// The factors of this split, from those of its source.
Factors followed_factors(const FollowSplit& step, const Factors& source);

}  // namespace tilewright::schedule
