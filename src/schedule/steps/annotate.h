// annotate: says how a loop runs: its iterations on several threads, as lanes of vectors, or
// written out one after the other. `stream` says of the stage's stores inside the loop that they go
// past the caches; it goes with any of the others.
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
