// Einsum's equation: `ij,jk->ik`, with `...` for further dimensions. Letters are unique over the
// whole equation; dimensions of an ellipsis get letters of their own.
//
//   "bi...,...i->b..."  for ranks 4 and 3   =>   operands {"biAB", "ABi"}, result "bAB"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::onnx {

struct Einsum {
  std::vector<std::string> operands;  // one letter a dimension; a letter may stand twice
  std::string result;                 // each letter once
};

// A Refusal where the equation does not fit operands of these ranks.
Einsum parse_einsum(std::string_view equation, std::span<const size_t> ranks);

}  // namespace tilewright::onnx
