// contract(a, b; a, b, out): sums of products with dimensions named by letters (te/ops/einsum.h).
//
//   a="ik", b="kj", out="ij"           a matrix product, the Dag of te's matmul
//   a="bik", b="kj", out="bij"         of a tensor and a matrix
//   a="bhid", b="bhjd", out="bhij"     queries by keys
//
// Letters that `out` lacks are summed. A dimension of extent 1 broadcasts to that of the other
// operand. A letter repeated in one operand means its diagonal. Narrow integers, also u8 times i8,
// give i32. One stage C, or Y if nothing is summed.
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
  TRY(te::require_factors(op.name, left.element, right.element));
  TRY(add_letters(op, a, left, extents));
  TRY(add_letters(op, b, right, extents));
  TRY(check_out(op, out, extents));
  TRY(require_result(op, te::letter_shape(out, extents)));
  te::DagBuilder builder;
  const te::Factor first{placeholder(builder, "A", left), a};
  const te::Factor second{placeholder(builder, "B", right), b};
  const std::string summed = te::summed_letters(first, second, out);
  te::add_products(builder, summed.empty() ? "Y" : "C", out, summed, first, second, extents,
                   te::result_of(left.element));
  return std::move(builder).build();
}

constexpr OpDef kOps[] = {{"contract", Work::Heavy, 2, 2, build_contract}};

}  // namespace

std::span<const OpDef> contract_ops() { return kOps; }

}  // namespace tilewright::graph
