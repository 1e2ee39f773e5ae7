// prefetch: in each iteration of a loop, prefetches the elements of a source that the stage reads
// `distance` iterations later.
//
//   prefetch C.write k A 4
//   for k < 512:         ->  for k < 512:
//     ... A[i, k] ...          prefetch A[i, k + 4]
//                              ... A[i, k] ...
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Prefetch {
  StageName stage;
  Name loop;
  StageName source;
  int64_t distance = 1;

  static constexpr std::string_view kTag = "prefetch";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Prefetch::stage), required("loop", &Prefetch::loop),
                      required("source", &Prefetch::source),
                      required("distance", &Prefetch::distance));
  }
  bool operator==(const Prefetch&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Prefetch& step);

}  // namespace tilewright::schedule
