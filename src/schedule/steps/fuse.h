// fuse: fuses adjacent loops into one.
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
  LoopList loops;  // outermost first, each directly inside the previous one

  static constexpr std::string_view kTag = "fuse";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Fuse::stage), required("loops", &Fuse::loops));
  }
  bool operator==(const Fuse&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Fuse& step);

}  // namespace tilewright::schedule
