// The table of operators that the command line and the suite can name.
#pragma once

#include <string_view>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

const std::vector<Operator>& all_operators();  // in the order of the documentation

const Operator* find_operator(std::string_view name);  // null if there is none

// `matmul:m=512,n=512,k=512` -> the operator. Errors say what is wrong and what would be legal.
Result<OpInstance> parse_operator(std::string_view text);

}  // namespace tilewright::te
