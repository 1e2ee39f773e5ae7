// The typing rules of expressions, for the factory functions and the verifier.
#pragma once

#include "ir/expr.h"

namespace tilewright::ir {

// The type error of a node whose children are well typed, such as "operands differ in type"; null
// if there is none.
const char* type_fault(const Node& node);

bool is_comparison(BinaryOp op);
Type result_type(BinaryOp op, Type operand);

}  // namespace tilewright::ir
