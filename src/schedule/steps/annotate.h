// annotate: chooses how a loop runs: on several threads, as vector lanes, or unrolled. `stream`
// makes the stores of the stage inside the loop non-temporal and combines with any of the others.
//
//   annotate C i.0 parallel
//   for i.0 < 32:   ->  parallel for i.0 < 32:
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Annotate {
  StageName stage;
  Name loop;
  Annotation how = Annotation::None;

  static constexpr std::string_view kTag = "annotate";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Annotate::stage), required("loop", &Annotate::loop),
                      required("how", &Annotate::how));
  }
  bool operator==(const Annotate&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Annotate& step);

}  // namespace tilewright::schedule
