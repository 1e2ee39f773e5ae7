#include "lower/reduction_store.h"

#include <limits>

#include "ir/equal.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

bool loads_element_of(const Expr& expr, const ir::Store& store) {
  const auto* load = expr.as<ir::Load>();
  if (load == nullptr || load->buffer != store.buffer || load->type != store.value.type()) {
    return false;
  }
  if (load->indices.size() != store.indices.size()) return false;
  for (size_t k = 0; k < load->indices.size(); ++k) {
    if (!ir::equal(load->indices[k], store.indices[k])) return false;
  }
  return true;
}

bool folds(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Mul || op == BinaryOp::Min || op == BinaryOp::Max;
}

int64_t largest(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::Bool:
      return 1;
    case ir::Scalar::U8:
      return std::numeric_limits<uint8_t>::max();
    case ir::Scalar::U16:
      return std::numeric_limits<uint16_t>::max();
    case ir::Scalar::U32:
      return std::numeric_limits<uint32_t>::max();
    case ir::Scalar::I8:
      return std::numeric_limits<int8_t>::max();
    case ir::Scalar::I16:
      return std::numeric_limits<int16_t>::max();
    case ir::Scalar::I32:
      return std::numeric_limits<int32_t>::max();
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

std::optional<ReductionStore> match_reduction(const ir::Store& store) {
  if (store.predicate.defined()) return {};
  if (const auto* node = store.value.as<ir::Fma>()) {
    if (!loads_element_of(node->c, store)) return {};
    return ReductionStore{BinaryOp::Add, node->c, node->a * node->b};
  }
  const auto* node = store.value.as<ir::Binary>();
  if (node == nullptr || !folds(node->op)) return {};
  if (loads_element_of(node->a, store)) return ReductionStore{node->op, node->a, node->b};
  if (loads_element_of(node->b, store)) return ReductionStore{node->op, node->b, node->a};
  return {};
}

Expr identity_of(BinaryOp op, ir::Type type) {
  const bool is_float = ir::is_float(type);
  const bool is_signed = ir::is_signed(type.scalar);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case BinaryOp::Add:
      return ir::imm(0, type);
    case BinaryOp::Mul:
      return ir::imm(1, type);
    case BinaryOp::Min:
      return is_float ? ir::float_imm(kInfinity, type) : ir::int_imm(largest(type.scalar), type);
    case BinaryOp::Max:
      if (is_float) return ir::float_imm(-kInfinity, type);
      return ir::int_imm(is_signed ? -largest(type.scalar) - 1 : 0, type);
    default:
      CHECK(false, "{} is not a reduction", ir::name_of(op));
  }
}

}  // namespace tilewright::lower
