// Arithmetic and comparisons on C values. The caller handles expressions.
#pragma once

#include <optional>

#include "codegen/c/c_values.h"
#include "ir/expr.h"

namespace tilewright::codegen {

class CArithmetic {
 public:
  explicit CArithmetic(CValues& values) : values_(values) {}

  // + - * on scalar I64: plain operators if the result cannot wrap.
  CValue index_arithmetic(ir::BinaryOp op, const CValue& a, const CValue& b);
  CValue compare(ir::BinaryOp op, CValue a, CValue b);
  // On one piece: all operators except comparisons and integer division.
  Piece combine(ir::BinaryOp op, CType type, const Piece& a, const Piece& b);

  // Integer / and %, rounding toward minus infinity. divide_by_constant: nothing if the divisor is
  // not a constant with a simple form. divide: any divisor.
  std::optional<CValue> divide_by_constant(ir::BinaryOp op, const CValue& a,
                                           const int64_t* constant);
  CValue divide(ir::BinaryOp op, const CValue& a, const CValue& b);
  // `b`, with 1 in the lanes that the mask disables.
  CValue or_one(const CValue& b, const CValue& under);

 private:
  CValues& values_;
};

}  // namespace tilewright::codegen
