#include "arith/random_expr_testing.h"

#include <algorithm>
#include <cstdlib>

#include "base/hash.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::ExprKind;

int64_t RandomExpr::positive() {
  if (rng_.chance(0.7)) return int64_t{1} << rng_.below(5);
  return rng_.between(1, options_.largest_constant);
}

Expr RandomExpr::leaf(unsigned lanes) {
  if (lanes > 1) {
    const Expr scalar = leaf(1);
    if (rng_.chance(0.5)) return ir::broadcast(scalar, lanes);
    return ir::ramp(scalar, rng_.between(-3, 3), lanes);
  }
  if (rng_.chance(0.25)) return ir::int_imm(constant());
  return variables_[rng_.below(variables_.size())];
}

Expr RandomExpr::affine(int depth, unsigned lanes) {
  const ir::Type type = ir::kIndex.with_lanes(lanes);
  switch (rng_.below(9)) {
    case 0:
    case 1:
    case 2:
      return integer(depth - 1, lanes) + integer(depth - 1, lanes);
    case 3:
      return integer(depth - 1, lanes) - integer(depth - 1, lanes);
    case 4:
      return integer(depth - 1, lanes) * ir::int_imm(constant(), type);
    case 5:
      return integer(depth - 1, lanes) * ir::int_imm(positive(), type);
    case 6:
      return integer(depth - 1, lanes) / ir::int_imm(positive(), type);
    case 7:
      return integer(depth - 1, lanes) % ir::int_imm(positive(), type);
    default: {
      const BinaryOp op = rng_.chance(0.5) ? BinaryOp::Min : BinaryOp::Max;
      return ir::binary(op, integer(depth - 1, lanes), integer(depth - 1, lanes));
    }
  }
}

Expr RandomExpr::narrow(int depth, unsigned lanes) {
  constexpr ir::Scalar kTypes[] = {ir::Scalar::I32, ir::Scalar::U8, ir::Scalar::U16,
                                   ir::Scalar::U32};
  const ir::Scalar type = kTypes[rng_.below(std::size(kTypes))];
  constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub,    BinaryOp::Mul,
                               BinaryOp::Min, BinaryOp::BitAnd, BinaryOp::Max};
  const Expr a = ir::cast(type, integer(depth - 1, lanes));
  const Expr b = ir::cast(type, integer(depth - 1, lanes));
  return ir::cast(ir::Scalar::I64, ir::binary(kOps[rng_.below(std::size(kOps))], a, b));
}

Expr RandomExpr::integer(int depth, unsigned lanes) {
  if (depth <= 0 || rng_.chance(0.1)) return leaf(lanes);
  if (options_.affine_only || rng_.chance(0.6)) return affine(depth, lanes);
  switch (rng_.below(8)) {
    case 0:
      return integer(depth - 1, lanes) * integer(depth - 1, lanes);
    case 1:
    case 2:
      return ir::select(boolean(depth - 1, lanes), integer(depth - 1, lanes),
                        integer(depth - 1, lanes));
    case 3:
      return ir::load(ir::Scalar::I64, 0, {integer(depth - 1, lanes)});
    case 4:
      if (options_.narrow) return narrow(depth, lanes);
      return affine(depth, lanes);
    case 5:  // x / c * c + x % c, in disguise
    {
      const Expr x = integer(depth - 2, lanes);
      const Expr c = ir::int_imm(positive(), ir::kIndex.with_lanes(lanes));
      return x / c * c + x % c;
    }
    case 6:
      if (lanes == 1 && options_.vectors) {
        return ir::vector_reduce(rng_.chance(0.5) ? BinaryOp::Max : BinaryOp::Add,
                                 integer(depth - 1, 4));
      }
      return ir::broadcast(integer(depth - 1, 1), lanes);
    default:
      return lanes == 1 ? affine(depth, 1)
                        : ir::ramp(integer(depth - 1, 1), rng_.between(-4, 4), lanes);
  }
}

Expr RandomExpr::boolean(int depth, unsigned lanes) {
  constexpr BinaryOp kCompare[] = {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt,
                                   BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge};
  const uint64_t choice = depth <= 1 ? 0 : rng_.below(8);
  switch (choice) {
    case 5:
      return boolean(depth - 1, lanes) && boolean(depth - 1, lanes);
    case 6:
      return boolean(depth - 1, lanes) || boolean(depth - 1, lanes);
    case 7: {
      if (rng_.chance(0.5)) return ir::call(ir::Intrinsic::Not, {boolean(depth - 1, lanes)});
      return ir::select(boolean(depth - 1, lanes), boolean(depth - 1, lanes),
                        boolean(depth - 1, lanes));
    }
    default:
      return ir::binary(kCompare[rng_.below(std::size(kCompare))], integer(depth - 1, lanes),
                        integer(depth - 1, lanes));
  }
}

namespace {

using Wide = __int128;

Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

Wide exact_result(BinaryOp op, Wide a, Wide b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return floor_quotient(a, b);
    case BinaryOp::Mod:
      return a - floor_quotient(a, b) * b;
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::Or:
      return a | b;
    default:
      CHECK(false, "not generated");
  }
}

}  // namespace

int64_t evaluate(const Expr& expr, const Values& values, unsigned lane, bool& overflowed) {
  const auto of = [&](const Expr& child) { return evaluate(child, values, lane, overflowed); };
  const auto wrap = [&](Wide exact) {
    const auto low_bits = static_cast<int64_t>(static_cast<uint64_t>(exact));
    if (expr.type().scalar == ir::Scalar::I64 && exact != low_bits) overflowed = true;
    return ir::wrap_integer(low_bits, expr.type().scalar);
  };
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return expr.as<ir::IntImm>()->value;
    case ExprKind::Var:
      return values.at(expr.as<ir::Var>()->id);
    case ExprKind::Cast:
      return ir::wrap_integer(of(expr.as<ir::Cast>()->value), expr.type().scalar);
    case ExprKind::Binary: {
      const auto* n = expr.as<ir::Binary>();
      return wrap(exact_result(n->op, of(n->a), of(n->b)));
    }
    case ExprKind::Select: {
      const auto* n = expr.as<ir::Select>();
      return of(n->condition) != 0 ? of(n->if_true) : of(n->if_false);
    }
    case ExprKind::Call:
      return 1 - of(expr.as<ir::Call>()->args[0]);  // Not
    case ExprKind::Load: {
      Hasher hasher;
      for (const Expr& index : expr.as<ir::Load>()->indices) hasher.add_signed(of(index));
      return static_cast<int64_t>(hasher.finish().low % 201) - 100;
    }
    case ExprKind::Ramp: {
      const auto* n = expr.as<ir::Ramp>();
      return wrap(of(n->base) + static_cast<Wide>(n->stride) * lane);
    }
    case ExprKind::Broadcast:
      return of(expr.as<ir::Broadcast>()->value);
    case ExprKind::VectorReduce: {
      const auto* n = expr.as<ir::VectorReduce>();
      int64_t result = evaluate(n->value, values, 0, overflowed);
      for (unsigned k = 1; k < n->value.type().lanes; ++k) {
        result = wrap(exact_result(n->op, result, evaluate(n->value, values, k, overflowed)));
      }
      return result;
    }
    default:
      CHECK(false, "not generated");
  }
}

Values random_values(Rng& rng, const std::vector<Expr>& variables, const Bounds& bounds) {
  Values values;
  for (const Expr& variable : variables) {
    const ir::VarId id = variable.as<ir::Var>()->id;
    const auto found = bounds.find(id);
    const Interval range = found == bounds.end() ? Interval{-60, 60} : found->second;
    const uint64_t choice = rng.below(6);
    values[id] = choice == 0   ? range.low
                 : choice == 1 ? range.high
                               : rng.between(range.low, range.high);
  }
  return values;
}

int rounds(int standard) {
  const char* factor = std::getenv("TILEWRIGHT_TEST_FACTOR");
  return factor == nullptr ? standard : standard * std::max(1, std::atoi(factor));
}

uint64_t seed(uint64_t test) {
  const char* shift = std::getenv("TILEWRIGHT_TEST_SEED");
  return test + (shift == nullptr ? 0 : 1000 * std::strtoull(shift, nullptr, 10));
}

}  // namespace tilewright::arith
