// split: replaces a loop by a nest of loops. `factors` are the extents of the inner parts,
// outermost first; the outermost part gets the quotient, rounded up. `tail` selects the treatment
// of a remainder.
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

// The structural part of every split: replaces the loop by `count` parts.
Illegal split_loop(TreeEditor& editor, StageName stage, Name loop, size_t count, Tail tail);

// Factors must be at least 1 and at most 2^31, and their product at most 2^40; otherwise returns
// `refusal` with the offending factor.
Illegal check_factors(const Factors& factors, Illegal refusal);

}  // namespace tilewright::schedule
