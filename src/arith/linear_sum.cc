#include "arith/linear_sum.h"

#include "ir/equal.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

// Whether a summand after the first is written as `- |summand|`.
bool is_subtracted(const Summand& summand) {
  return summand.number < 0 && summand.number != INT64_MIN;
}

bool summand_is(const Summand& summand, int64_t number, const Expr& expr) {
  if (summand.atom == nullptr) {
    const auto* value = expr.as<ir::IntImm>();
    return value != nullptr && value->value == number;
  }
  if (number == 1) return summand.atom->same_as(expr);
  const auto* n = expr.as<ir::Binary>();
  if (n == nullptr || n->op != BinaryOp::Mul || !n->a.same_as(*summand.atom)) return false;
  const auto* value = n->b.as<ir::IntImm>();
  return value != nullptr && value->value == number;
}

Expr write_summand(const Summand& summand, int64_t number, ir::Type type) {
  if (summand.atom == nullptr) return ir::int_imm(number, type);
  return number == 1 ? *summand.atom : *summand.atom * ir::int_imm(number, type);
}

}  // namespace

bool LinearTerm::same_atom(const LinearTerm& other) const {
  if (atom.same_as(other.atom)) return true;
  if (!atom.defined() || !other.atom.defined() || atom.kind() != other.atom.kind()) return false;
  return ir::equal(atom, other.atom);
}

Expr write_sum(std::span<const Summand> summands, ir::Type type) {
  Expr sum = write_summand(summands[0], summands[0].number, type);
  for (const Summand& summand : summands.subspan(1)) {
    if (is_subtracted(summand)) {
      sum = std::move(sum) - write_summand(summand, -summand.number, type);
    } else {
      sum = std::move(sum) + write_summand(summand, summand.number, type);
    }
  }
  return sum;
}

bool is_written_as(std::span<const Summand> summands, const Expr& expr) {
  const Expr* rest = &expr;
  for (size_t k = summands.size(); k-- > 1;) {
    const auto* n = rest->as<ir::Binary>();
    const bool subtracted = is_subtracted(summands[k]);
    const BinaryOp op = subtracted ? BinaryOp::Sub : BinaryOp::Add;
    if (n == nullptr || n->op != op) return false;
    const int64_t number = subtracted ? -summands[k].number : summands[k].number;
    if (!summand_is(summands[k], number, n->b)) return false;
    rest = &n->a;
  }
  return summand_is(summands[0], summands[0].number, *rest);
}

}  // namespace tilewright::arith
