// Arithmetic and comparisons on values; expressions are for who calls it.
#pragma once

#include <optional>

#include "codegen/c/c_values.h"
#include "ir/expr.h"

namespace tilewright::codegen {

class CArithmetic {
 public:
  explicit CArithmetic(CValues& values) : values_(values) {}

  // I64 scalars, + - *: plain operators where nothing can wrap.
  CValue index_arithmetic(ir::BinaryOp op, const CValue& a, const CValue& b);
  CValue compare(ir::BinaryOp op, CValue a, CValue b);
  // Of one piece: all but comparisons and integer division.
  Piece combine(ir::BinaryOp op, CType type, const Piece& a, const Piece& b);

  // Integer / and %, rounding toward minus infinity: by a constant that makes it easy, where there
  // is one, and by any other. `type` is that of the operands.
  std::optional<CValue> divide_by_constant(ir::BinaryOp op, const CValue& a,
                                           const int64_t* constant);
  CValue divide(ir::BinaryOp op, const CValue& a, const CValue& b);
  // `b`, and 1 in lanes that the mask leaves out.
  CValue or_one(const CValue& b, const CValue& under);

 private:
  CValues& values_;
};

}  // namespace tilewright::codegen
