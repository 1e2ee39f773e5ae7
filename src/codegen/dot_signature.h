// DotSignature: the function of a dot product instruction, and the lookup in a back end's table of
// them. A row of such a table derives from DotSignature and adds how the back end emits it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/expr.h"

namespace tilewright::codegen {

struct DotSignature {
  std::string_view intrinsic;  // of schedule/intrinsics.cc
  ir::Type sum, a, b;          // of one row
  ir::DotRounding rounding{};

  bool computes(const ir::Dot& dot) const {
    return dot.rows == 1 && sum == dot.type && a == dot.a.type() && b == dot.b.type() &&
           rounding == dot.rounding;
  }
};

// The error if no row matches. It names the intrinsic, or the types of a dot product without one.
std::unexpected<Error> no_instruction_for(const ir::Dot& dot,
                                          const std::vector<std::string>& known);

// The row of the intrinsic that the dot product names, or, if it names none, the first row that
// computes it.
template <class Row>
Result<const Row*> find_dot(std::span<const Row> rows, const ir::Dot& dot) {
  std::vector<std::string> known;
  for (const Row& row : rows) {
    const bool named = dot.intrinsic.empty() || dot.intrinsic.text() == row.intrinsic;
    if (named && row.computes(dot)) return &row;
    known.emplace_back(row.intrinsic);
  }
  return no_instruction_for(dot, known);
}

}  // namespace tilewright::codegen
