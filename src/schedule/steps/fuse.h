// fuse: makes one loop of neighboring ones.
//
//   fuse C [i, j]
//   for i < 4:       ->  for (i,j) < 24:
//     for j < 6:           ...            i = (i,j) / 6, j = (i,j) mod 6
//       ...
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Fuse {
  StageName stage;
  LoopList loops;  // outside in, each directly inside the one before

  static constexpr std::string_view kTag = "fuse";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Fuse::stage), required("loops", &Fuse::loops));
  }
  bool operator==(const Fuse&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Fuse& step);

}  // namespace tilewright::schedule
