// Parses the equation of Einsum: `ij,jk->ik`, with `...` for further dimensions, which are given
// unused letters.
//
//   "bi...,...i->b..."  for ranks 4 and 3   =>   operands {"biAB", "ABi"}, result "bAB"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::onnx {

struct Einsum {
  std::vector<std::string> operands;  // one letter per dimension; a letter may be repeated
  std::string result;                 // distinct letters
};

// Throws a Refusal if the equation does not fit operands of these ranks.
Einsum parse_einsum(std::string_view equation, std::span<const size_t> ranks);

}  // namespace tilewright::onnx
