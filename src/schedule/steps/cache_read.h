// cache_read: copies the elements that some readers take from a stage (or an input) into a separate
// buffer, through a new stage `A.read` that can be attached and scheduled.
//
//   cache_read A [C]
//   for i, k:                ->  for i, k:
//     C[i] = ... A[i, k] ...       A.read[i, k] = A[i, k]
//                                for i, k:
//                                  C[i] = ... A.read[i, k] ...
//
// `scope=shared` selects the memory of the copy; otherwise memory_scope (loop_tree.h) does.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct CacheRead {
  StageName stage;      // the stage that is copied
  StageList readers;    // the stages that read the copy
  int64_t ordinal = 0;  // distinguishes new stages: A.read, A.read.1, ...
  std::optional<MemoryScope> scope{};

  static constexpr std::string_view kTag = "cache_read";
  static constexpr auto fields() {
    return std::tuple(
        required("stage", &CacheRead::stage), required("readers", &CacheRead::readers),
        optional("ordinal", &CacheRead::ordinal), optional("scope", &CacheRead::scope));
  }
  bool operator==(const CacheRead&) const = default;
};

Illegal apply_step(TreeEditor& editor, const CacheRead& step);

}  // namespace tilewright::schedule
