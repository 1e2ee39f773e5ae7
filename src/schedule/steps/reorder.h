// reorder: permutes the named loops among the positions that they occupy; other loops keep their
// positions.
//
//   reorder C [k, i]
//   for i < 4:       ->  for k < 8:
//     for j < 6:           for j < 6:
//       for k < 8:           for i < 4:
//         ...                  ...
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Reorder {
  StageName stage;
  LoopList loops;

  static constexpr std::string_view kTag = "reorder";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Reorder::stage), required("loops", &Reorder::loops));
  }
  bool operator==(const Reorder&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Reorder& step);

}  // namespace tilewright::schedule
