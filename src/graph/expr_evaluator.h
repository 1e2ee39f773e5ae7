// ExprEvaluator: evaluates the expressions of one operator of a Dag for many elements. Integers are
// exact in 64 bits, floats are f64. Not thread-safe.
//
//   ExprEvaluator exprs(arrays);
//   const size_t i = exprs.variable(axis.var), body = exprs.add(op.body[0]);
//   exprs.set(i, {.i = 3});
//   const Number value = exprs.value(body);
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "te/dag.h"

namespace tilewright::graph {

union Number {
  int64_t i;  // integers and Bool
  double f;   // floats
};

// A tensor in memory, row-major.
struct Array {
  ir::Scalar element = ir::Scalar::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

Number load(std::span<const std::byte> bytes, ir::Scalar element, int64_t offset);
void store(std::span<std::byte> bytes, ir::Scalar element, int64_t offset, Number value);
// A value of type `from` converted to type `to`, by the rules of ir/type.h.
Number converted(Number value, ir::Scalar from, ir::Scalar to);

// Shared subexpressions are computed once between two calls of `set`.
class ExprEvaluator {
 public:
  // `arrays` are indexed by TensorId and must outlive the evaluator.
  explicit ExprEvaluator(const std::vector<Array>& arrays) : arrays_(arrays) {}

  size_t variable(const ir::Expr& var);  // declares a variable; returns its number
  size_t add(const ir::Expr& expr);      // declares an expression; returns its number
  void set(size_t variable, Number value);
  Number value(size_t expression);

 private:
  struct Code {
    const ir::Node* node = nullptr;
    std::vector<size_t> operands;               // expressions; the variable of a Var
    ir::Scalar type = ir::Scalar::I64;          // of the result
    ir::Scalar operand_type = ir::Scalar::I64;  // of the first operand
    uint64_t round = 0;                         // when `result` was computed
    Number result = {.i = 0};
  };
  Number compute(const Code& code);
  Number compute_binary(const Code& code);
  Number compute_call(const Code& code);
  Number compute_load(const Code& code);

  const std::vector<Array>& arrays_;
  std::vector<Code> codes_;
  std::vector<Number> variables_;
  std::unordered_map<ir::VarId, size_t> variable_of_;
  std::unordered_map<const ir::Node*, size_t> code_of_;
  uint64_t round_ = 1;
};

// `lhs op rhs` of numbers of one type.
Number apply(ir::BinaryOp op, Number a, Number b, ir::Scalar type);

}  // namespace tilewright::graph
