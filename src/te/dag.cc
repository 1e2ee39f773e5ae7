#include "te/dag.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/check.h"
#include "ir/print.h"
#include "te/flop.h"

namespace tilewright::te {
namespace {

std::string print(const Extent& extent) {
  if (extent.is_constant()) return fmt::format("{}", extent.low);
  return fmt::format("{} in [{}, {}]", extent.symbol.text(), extent.low, extent.high);
}

std::string print_axes(const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  parts.reserve(axes.size());
  for (const Axis& axis : axes) {
    parts.push_back(fmt::format("{} < {}", axis.name.text(), print(axis.extent)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string print_reduction(const Reduction& reduction) {
  if (const auto op = reduction.simple_op()) {
    return *op == ir::BinaryOp::Add ? "sum" : std::string(ir::name_of(*op));
  }
  std::vector<std::string> parts;
  parts.reserve(reduction.combine.size());
  for (const ir::Expr& part : reduction.combine) parts.push_back(ir::to_string(part));
  return fmt::format("fold ({})", fmt::join(parts, ", "));
}

bool is_monoid(ir::BinaryOp op) {
  using enum ir::BinaryOp;
  return op == Add || op == Mul || op == Min || op == Max || op == And || op == Or;
}

ir::Expr smallest(ir::Type type) {
  if (ir::is_float(type)) return ir::float_imm(-std::numeric_limits<double>::infinity(), type);
  const int bits = 8 * ir::bytes_of(type.scalar);
  return ir::int_imm(ir::is_signed(type.scalar) ? int64_t{-1} << (bits - 1) : 0, type);
}

ir::Expr largest(ir::Type type) {
  if (ir::is_float(type)) return ir::float_imm(std::numeric_limits<double>::infinity(), type);
  const int bits = 8 * ir::bytes_of(type.scalar) - (ir::is_signed(type.scalar) ? 1 : 0);
  return ir::int_imm(static_cast<int64_t>((uint64_t{1} << bits) - 1), type);
}

ir::Expr identity_of(ir::BinaryOp op, ir::Type type) {
  switch (op) {
    case ir::BinaryOp::Add:
    case ir::BinaryOp::Or:
      return ir::imm(0, type);
    case ir::BinaryOp::Mul:
    case ir::BinaryOp::And:
      return ir::imm(1, type);
    case ir::BinaryOp::Min:
      return largest(type);
    default:
      return smallest(type);
  }
}

}  // namespace

Extent Extent::named(Name symbol, int64_t low, int64_t high) {
  CHECK(!symbol.empty() && 1 <= low && low <= high, "extent in [{}, {}]", low, high);
  Extent extent;
  extent.low = low;
  extent.high = high;
  extent.symbol = symbol;
  return extent;
}

std::optional<int64_t> Extent::constant() const {
  return is_constant() ? std::optional(low) : std::nullopt;
}

std::optional<ir::BinaryOp> Reduction::simple_op() const {
  if (combine.size() != 1) return {};
  const auto* node = combine[0].as<ir::Binary>();
  if (node == nullptr || !is_monoid(node->op)) return {};
  if (!node->a.same_as(lhs[0]) || !node->b.same_as(rhs[0])) return {};
  return node->op;
}

Reduction make_reduction(ir::BinaryOp op, ir::Scalar accumulator) {
  CHECK(is_monoid(op), "cannot reduce with {}", ir::name_of(op));
  const ir::Type type{accumulator, 1};
  const bool logical = op == ir::BinaryOp::And || op == ir::BinaryOp::Or;
  CHECK(logical == ir::is_bool(type), "cannot reduce {} with {}", ir::to_string(type),
        ir::name_of(op));
  const ir::Expr lhs = ir::var("lhs", type);
  const ir::Expr rhs = ir::var("rhs", type);
  return {.identity = {identity_of(op, type)},
          .lhs = {lhs},
          .rhs = {rhs},
          .combine = {ir::binary(op, lhs, rhs)},
          .commutative = true};
}

std::optional<OpId> Dag::find_op(Name name) const {
  for (OpId id = 0; id < ops_.size(); ++id) {
    if (ops_[id].name == name) return id;
  }
  return {};
}

double Dag::flop(OpId id) const { return count_flop(ops_[id]); }

std::string Dag::to_string() const {
  std::string text;
  const auto tensor_name = [this](ir::BufferId id) { return tensors_[id].name.text(); };
  for (const Op& op : ops_) {
    const Tensor& first = tensors_[op.outputs[0]];
    if (op.kind == OpKind::Placeholder) {
      std::vector<std::string> extents;
      extents.reserve(first.shape.size());
      for (const Extent& extent : first.shape) extents.push_back(print(extent));
      text += fmt::format("{}: {}[{}]\n", op.name.text(), ir::name_of(first.element),
                          fmt::join(extents, ", "));
      continue;
    }
    std::vector<std::string> elements, values;
    for (const TensorId id : op.outputs) {
      elements.emplace_back(ir::name_of(tensors_[id].element));
    }
    for (const ir::Expr& value : op.body) values.push_back(ir::to_string(value, tensor_name));
    text += fmt::format("{}: {}[{}] = ", op.name.text(), fmt::join(elements, ", "),
                        print_axes(op.axes));
    if (op.reduction) {
      text +=
          fmt::format("{} over {} of ", print_reduction(*op.reduction), print_axes(op.reduce_axes));
    }
    text += fmt::format("{}\n", fmt::join(values, ", "));
  }
  return text;
}

}  // namespace tilewright::te
