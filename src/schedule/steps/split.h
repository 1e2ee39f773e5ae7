// split: cuts a loop into a nest of loops. `factors` are the lengths of the inner parts, outermost
// first; the outermost part gets what is left, rounded up. `tail` says what becomes of a remainder.
//
//   split C i [4, 8]
//   for i < 70:        ->  for i.0 < 3:
//     ...                    for i.1 < 4:
//                              for i.2 < 8:      i = i.0 * 32 + i.1 * 8 + i.2
//                                ...             the last i.0 does 70 - 64 = 6 of them
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Split {
  StageName stage;
  Name loop;
  Factors factors;
  Tail tail = Tail::Peel;

  static constexpr std::string_view kTag = "split";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Split::stage), required("loop", &Split::loop),
                      required("factors", &Split::factors), optional("tail", &Split::tail));
  }
  bool operator==(const Split&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Split& step);

// What every split does to the structure: `count` parts in the place of the loop.
Illegal split_loop(TreeEditor& editor, StageName stage, Name loop, size_t count, Tail tail);

// Factors are at least 1, at most 2^31, and their product at most 2^40; else `refusal`, with the
// factor that is not.
Illegal check_factors(const Factors& factors, Illegal refusal);

}  // namespace tilewright::schedule
