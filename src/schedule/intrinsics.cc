#include "schedule/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/print.h"
#include "te/dag_builder.h"

namespace tilewright::schedule {
namespace {

// A factor: a load, possibly cast. Fills `loads` by TensorId of the intrinsic's Dag.
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

// The coefficient of axis `axis` of the fold in the row-major index of a tensor of `shape`, where
// `index(d)` is its coefficient in dimension d.
template <class Index>
int64_t row_major_step(const std::vector<te::Extent>& shape, const Index& index) {
  int64_t step = 0;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d].high) step += stride * index(d);
  return step;
}

}  // namespace

bool TensorIntrinsic::is_strided(size_t operand, size_t axis) const {
  const Name name = this->axis(axis).name;
  return std::ranges::any_of(
      strided, [&](const StridedAxis& at) { return at.operand == operand && at.axis == name; });
}

bool TensorIntrinsic::fits(size_t operand, size_t axis, int64_t distance) const {
  const int64_t wanted = step(operand, axis);
  return is_strided(operand, axis) ? (distance != 0) == (wanted != 0) : distance == wanted;
}

int64_t TensorIntrinsic::rows() const {
  int64_t product = 1;
  for (size_t k = 0; k < spatial_axes(); ++k) product *= step(0, k) != 0 ? extent(k) : 1;
  return product;
}

int64_t TensorIntrinsic::lanes() const {
  int64_t product = 1;
  for (size_t k = 0; k < spatial_axes(); ++k) product *= step(1, k) != 0 ? extent(k) : 1;
  return product;
}

int64_t TensorIntrinsic::factors() const {
  int64_t product = 1;
  for (size_t k = spatial_axes(); k < axes(); ++k) product *= extent(k);
  return product;
}

int64_t TensorIntrinsic::step(size_t operand, size_t axis) const {
  if (operand == kResult) {
    return row_major_step(dag->tensor(fold().outputs[0]).shape,
                          [&](size_t d) { return int64_t{d == axis}; });
  }
  const auto id = static_cast<te::OpId>(dag->ops().size() - 1);
  const std::vector<te::Access>& reads = dag->access(id).reads;
  const auto read = std::ranges::find(reads, operand, &te::Access::tensor);
  return row_major_step(dag->tensor(read->tensor).shape, [&](size_t d) {
    return read->dims[d].index.coefficient_of(static_cast<uint32_t>(axis));
  });
}

std::string TensorIntrinsic::to_string() const {
  const auto name = [this](ir::BufferId id) { return dag->tensor(id).name.text(); };
  const auto type = [this](te::TensorId id) { return ir::name_of(dag->tensor(id).element); };
  std::string indices, summed, extents;
  for (size_t k = 0; k < axes(); ++k) {
    std::string& names = reduces(k) ? summed : indices;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", axis(k).name.text());
    extents += fmt::format("{} < {}{}", axis(k).name.text(), extent(k), k + 1 < axes() ? ", " : "");
  }
  return fmt::format("acc[{}] = sum over {} of {}; {}; a of {}, b of {}", indices, summed,
                     ir::to_string(fold().body[0], name), extents, type(0), type(1));
}

std::shared_ptr<const te::Dag> dot_products(int64_t rows, int64_t lanes, int64_t factors,
                                            ir::Scalar a_type, ir::Scalar b_type, ir::Scalar sum) {
  te::DagBuilder builder;
  const bool has_rows = rows > 1;
  const te::TensorId a = has_rows ? builder.placeholder("a", {rows, factors}, a_type)
                                  : builder.placeholder("a", {factors}, a_type);
  const te::TensorId b = builder.placeholder("b", {lanes, factors}, b_type);
  const te::Axis r = builder.axis("r", rows);
  const te::Axis l = builder.axis("l", lanes);
  const te::Axis f = builder.axis("f", factors);
  const ir::Expr shared = has_rows ? builder.read(a, {r.var, f.var}) : builder.read(a, {f.var});
  const ir::Expr product = ir::cast(sum, shared) * ir::cast(sum, builder.read(b, {l.var, f.var}));
  const std::vector<te::Axis> spatial = has_rows ? std::vector{r, l} : std::vector{l};
  builder.reduce("acc", spatial, {f}, ir::BinaryOp::Add, product, sum);
  return std::move(builder).build();
}

IntrinsicTable all_intrinsics() {
  using enum ir::Scalar;
  static const std::array table = {
      TensorIntrinsic{Name("vnni_dot_u8i8"), Capability::DotU8I8Lanes16,
                      dot_products(1, 16, 4, U8, I8, I32)},
      TensorIntrinsic{Name("avx512_bf16_dot"),
                      Capability::DotBf16Lanes16,
                      dot_products(1, 16, 2, BF16, BF16, F32),
                      {},
                      ir::DotRounding::DescendingFlushed},
  };
  return table;
}

const TensorIntrinsic* find_intrinsic(Name name, IntrinsicTable table) {
  const auto found = std::ranges::find(table, name, &TensorIntrinsic::name);
  return found == table.end() ? nullptr : &*found;
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
