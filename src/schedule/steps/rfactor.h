// rfactor: computes one partial result per value of a reduce loop, in a new stage `S.rfactor` with
// that loop as an additional dimension; the stage itself reduces the partial results.
//
//   rfactor S k.1
//   for i, k.0, k.1:            ->  for i, k.1, k.0:
//     S[i] += X[i, k.0*16 + k.1]      S.rfactor[i, k.1] += X[i, k.0*16 + k.1]
//                                   for i, k.1:
//                                     S[i] += S.rfactor[i, k.1]
//
// A split with a factored part must divide or pad (tail=pad or mask); iterations past the end fold
// the identity.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Rfactor {
  StageName stage;
  Name loop;

  static constexpr std::string_view kTag = "rfactor";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Rfactor::stage), required("loop", &Rfactor::loop));
  }
  bool operator==(const Rfactor&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Rfactor& step);

}  // namespace tilewright::schedule
