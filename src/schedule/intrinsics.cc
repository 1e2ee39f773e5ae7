#include "schedule/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/print.h"
#include "te/dag_builder.h"

namespace tilewright::schedule {
namespace {

// acc[l] = sum over f of a[f] * b[l, f], in the type of the sum.
std::shared_ptr<const te::Dag> dot_products(int64_t lanes, int64_t factors, ir::Scalar a_type,
                                            ir::Scalar b_type, ir::Scalar sum) {
  te::DagBuilder builder;
  const te::TensorId a = builder.placeholder("a", {factors}, a_type);
  const te::TensorId b = builder.placeholder("b", {lanes, factors}, b_type);
  const te::Axis l = builder.axis("l", lanes);
  const te::Axis f = builder.axis("f", factors);
  const ir::Expr product =
      ir::cast(sum, builder.read(a, {f.var})) * ir::cast(sum, builder.read(b, {l.var, f.var}));
  builder.reduce("acc", {l}, {f}, ir::BinaryOp::Add, product, sum);
  return std::move(builder).build();
}

// A factor: a load that is cast, or not. Fills `loads` by TensorId of the intrinsic's Dag.
bool match_factor(const ir::Expr& pattern, const ir::Expr& value, IntrinsicOperands& loads) {
  if (pattern.kind() != value.kind() || pattern.type() != value.type()) return false;
  if (const auto* cast = pattern.as<ir::Cast>()) {
    return match_factor(cast->value, value.as<ir::Cast>()->value, loads);
  }
  const auto* load = pattern.as<ir::Load>();
  if (load == nullptr) return false;
  loads[load->buffer] = value.as<ir::Load>();
  return true;
}

// What axis number `axis` of the fold weighs in the row-major index of an operand.
int64_t step_of(const TensorIntrinsic& intrinsic, size_t operand, uint32_t axis) {
  const auto id = static_cast<te::OpId>(intrinsic.dag->ops().size() - 1);
  const std::vector<te::Access>& reads = intrinsic.dag->access(id).reads;
  const auto read = std::ranges::find(reads, operand, &te::Access::tensor);
  const std::vector<te::Extent>& shape = intrinsic.dag->tensor(read->tensor).shape;
  int64_t step = 0;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d].high) {
    step += stride * read->dims[d].index.coefficient_of(axis);
  }
  return step;
}

}  // namespace

int64_t TensorIntrinsic::lane_step(size_t operand) const { return step_of(*this, operand, 0); }
int64_t TensorIntrinsic::factor_step(size_t operand) const { return step_of(*this, operand, 1); }

std::string TensorIntrinsic::to_string() const {
  const auto name = [this](ir::BufferId id) { return dag->tensor(id).name.text(); };
  const auto type = [this](te::TensorId id) { return ir::name_of(dag->tensor(id).element); };
  return fmt::format("acc[l] = sum over f of {}; l < {}, f < {}; a of {}, b of {}",
                     ir::to_string(fold().body[0], name), lanes(), factors(), type(0), type(1));
}

std::span<const TensorIntrinsic> all_intrinsics() {
  using enum ir::Scalar;
  static const std::array table = {
      TensorIntrinsic{Name("vnni_dot_u8i8"), Capability::DotU8I8Lanes16,
                      dot_products(16, 4, U8, I8, I32)},
      TensorIntrinsic{Name("avx512_bf16_dot"), Capability::DotBf16Lanes16,
                      dot_products(16, 2, BF16, BF16, F32)},
  };
  return table;
}

const TensorIntrinsic* find_intrinsic(Name name) {
  const auto rows = all_intrinsics();
  const auto found = std::ranges::find(rows, name, &TensorIntrinsic::name);
  return found == rows.end() ? nullptr : &*found;
}

InlineVector<IntrinsicOperands, 2> match_operands(const TensorIntrinsic& intrinsic,
                                                  const ir::Expr& value) {
  InlineVector<IntrinsicOperands, 2> ways;
  const auto* product = value.as<ir::Binary>();
  if (product == nullptr || product->op != ir::BinaryOp::Mul) return ways;
  const auto* pattern = intrinsic.fold().body[0].as<ir::Binary>();
  IntrinsicOperands loads{};
  if (match_factor(pattern->a, product->a, loads) && match_factor(pattern->b, product->b, loads)) {
    ways.push_back(loads);
  }
  if (match_factor(pattern->a, product->b, loads) && match_factor(pattern->b, product->a, loads)) {
    ways.push_back(loads);
  }
  return ways;
}

}  // namespace tilewright::schedule
