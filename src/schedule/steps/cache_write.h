// cache_write: computes a stage into a separate buffer through a new stage `C.write`; the stage
// itself only copies it out. Attached to a tile of C, the new buffer holds the accumulators of the
// tile.
//
//   cache_write C
//   for i, j, k:                   ->  for i, j, k:
//     C[i, j] += A[i, k] * B[k, j]       C.write[i, j] += A[i, k] * B[k, j]
//                                      for i, j:
//                                        C[i, j] = C.write[i, j]
//
// `scope=register` selects the memory of the new buffer; otherwise memory_scope (loop_tree.h) does.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct CacheWrite {
  StageName stage;
  std::optional<MemoryScope> scope{};

  static constexpr std::string_view kTag = "cache_write";
  static constexpr auto fields() {
    return std::tuple(required("stage", &CacheWrite::stage), optional("scope", &CacheWrite::scope));
  }
  bool operator==(const CacheWrite&) const = default;
};

Illegal apply_step(TreeEditor& editor, const CacheWrite& step);

}  // namespace tilewright::schedule
