// The helper functions (codegen/c/recipes.cc) that compute the dot products of tensor intrinsics.
#pragma once

#include <string_view>

#include "base/result.h"
#include "ir/expr.h"

namespace tilewright::codegen {

// A helper (sum, a word of factors of a, one of b). An error that names the intrinsic if there is
// none.
Result<std::string_view> dot_helper(const ir::Dot& dot);

}  // namespace tilewright::codegen
