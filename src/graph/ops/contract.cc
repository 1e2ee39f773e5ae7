// contract(a, b; a, b, out): sums of products by letters, one a dimension (einsum).
//
//   a="ik", b="kj", out="ij"           a matrix product, the Dag of te's matmul
//   a="bik", b="kj", out="bij"         of a tensor and a matrix
//   a="bhid", b="bhjd", out="bhij"     queries by keys
//
// Letters that `out` lacks are summed; a dimension of extent 1 broadcasts where the other operand
// is longer; a letter that stands twice in one operand means its diagonal. Narrow integers, u8
// times i8 among them, give i32. One stage C, or Y where nothing is summed.
#include "graph/ops/families.h"
#include "graph/ops/letters.h"
#include "te/ops/operator.h"

namespace tilewright::graph {
namespace {

DagResult build_contract(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &left = *operands[0], &right = *operands[1];
  const std::string &a = attributes.text("a"), &b = attributes.text("b");
  const std::string& out = attributes.text("out");
  LetterExtents extents;
  for (const Status& legal : {te::require_factors(op.name, left.element, right.element),
                              add_letters(op, a, left, extents), add_letters(op, b, right, extents),
                              check_out(op, out, extents)}) {
    if (!legal) return std::unexpected(legal.error());
  }
  if (const Status fits = require_result(op, shape_of(out, extents)); !fits) {
    return std::unexpected(fits.error());
  }
  std::string summed;
  for (const char letter : a + b) {
    if (!out.contains(letter) && !summed.contains(letter)) summed += letter;
  }
  te::DagBuilder builder;
  const te::TensorId first = placeholder(builder, "A", left);
  const te::TensorId second = placeholder(builder, "B", right);
  const std::vector<te::Axis> axes = axes_of(builder, out, extents);
  const std::vector<te::Axis> sums = axes_of(builder, summed, extents);
  Places places;
  places.add(out, axes);
  places.add(summed, sums);
  const ir::Scalar type = te::accumulator_of(left.element);
  const ir::Expr product = ir::cast(type, places.read(builder, first, a)) *
                           ir::cast(type, places.read(builder, second, b));
  const ir::Scalar stored = te::result_of(left.element);
  if (summed.empty()) return finish(std::move(builder), axes, product, stored);
  builder.reduce("C", axes, sums, ir::BinaryOp::Add, product, stored);
  return std::move(builder).build();
}

constexpr OpDef kOps[] = {{"contract", Work::Heavy, 2, 2, build_contract}};

}  // namespace

std::span<const OpDef> contract_ops() { return kOps; }

}  // namespace tilewright::graph
