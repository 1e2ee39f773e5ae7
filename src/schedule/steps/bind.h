// bind: maps the iterations of a loop to the blocks or threads of a GPU. Its loops are parallel, as
// those of `annotate parallel`. Blocks are outside threads, and a stage in a loop has bound loops
// only if the iterations share the memory of its buffers. The limits of a target are checked when
// it is known (schedule/launch_limits.h); only back ends for such targets generate code for it.
//
//   bind C i.0 block_x
//   for i.0 < 32:   ->  block_x for i.0 < 32:
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Bind {
  StageName stage;
  Name loop;
  ThreadAxis axis = ThreadAxis::None;

  static constexpr std::string_view kTag = "bind";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Bind::stage), required("loop", &Bind::loop),
                      required("axis", &Bind::axis));
  }
  bool operator==(const Bind&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Bind& step);

}  // namespace tilewright::schedule
