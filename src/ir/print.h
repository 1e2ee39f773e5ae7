// The text form of expressions, statements and functions, for display and golden files.
//
//   parallel for i.0 < 32:
//     C[i.0 * 8, j] = fma(A[i.0 * 8, k], B[k, j], C[i.0 * 8, j])
//
// I64 and F32 constants are printed bare, others in a cast (`i32(5)`). `x16(v)` is a broadcast,
// `ramp(base, stride, lanes)` a ramp, `f16x8(v)` a cast. The scope of a Let or Allocate is the
// lines below it; if statements follow its scope, it is indented like a loop. Buffers without a
// namer are b0, b1, ... Names are not made unique: variables with the same name have the same text.
#pragma once

#include <functional>
#include <string>

#include "ir/stmt.h"

namespace tilewright::ir {

// `buffer_name` may be empty.
using BufferNamer = std::function<std::string(BufferId)>;
std::string to_string(const Expr& expr, const BufferNamer& buffer_name = {});
std::string to_string(const Stmt& stmt, const BufferNamer& buffer_name = {});
std::string to_string(const Function& function);

// For messages: the first line of a statement, or the whole expression, truncated if too long.
std::string brief(const Expr& expr, const BufferNamer& buffer_name = {});
std::string brief(const Stmt& stmt, const BufferNamer& buffer_name = {});

}  // namespace tilewright::ir
