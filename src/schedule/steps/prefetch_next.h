// prefetch_next: each iteration of a loop prefetches a share of the next tile of a source
// (next_tile.h). The shares are equal and cover the tile, so memory delivers it while the current
// one is in use.
//
//   prefetch_next C k.0 B
//   for j.0 < 24:              ->  for j.0 < 24:
//     for i.0 < 16:                  for i.0 < 16:
//       for k.0 < 192:                 for k.0 < 192:
//         ... B[k, j] ...                prefetch lines (i.0*192 + k.0) * L / 3072 of the L lines
//                                            that B has at j.0 + 1
//                                        ... B[k, j] ...
//
// Without a loop that selects the elements, it has no effect.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct PrefetchNext {
  StageName stage;
  Name loop;
  StageName source;

  static constexpr std::string_view kTag = "prefetch_next";
  static constexpr auto fields() {
    return std::tuple(required("stage", &PrefetchNext::stage),
                      required("loop", &PrefetchNext::loop),
                      required("source", &PrefetchNext::source));
  }
  bool operator==(const PrefetchNext&) const = default;
};

Illegal apply_step(TreeEditor& editor, const PrefetchNext& step);

}  // namespace tilewright::schedule
