// The typing rules of expressions, in one place for the makers and the verifier.
#pragma once

#include "ir/expr.h"

namespace tilewright::ir {

// What is wrong with the types of a node, given its children (which are not looked into): a phrase
// such as "operands differ in type", or null when all is well.
const char* type_fault(const Node& node);

bool is_comparison(BinaryOp op);
Type result_type(BinaryOp op, Type operand);

}  // namespace tilewright::ir
