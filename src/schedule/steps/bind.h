// bind: maps the iterations of a loop to the blocks or threads of a GPU. Legality is decided here;
// only back ends for such targets generate code for it.
//
//   bind C i.0 block_x
//   for i.0 < 32:   ->  block_x for i.0 < 32:
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

std::string_view word_of(ThreadAxis axis);
std::string all_words(ThreadAxis);
bool from_word(std::string_view word, ThreadAxis* axis);

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
