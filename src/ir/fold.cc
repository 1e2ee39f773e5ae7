#include "ir/fold.h"

#include <bit>
#include <cmath>
#include <limits>

#include "ir/typing.h"

namespace tilewright::ir {
namespace {

// The scalar constant under a Broadcast, or the expression itself.
const Expr& scalar_of(const Expr& expr) {
  const Broadcast* b = expr.as<Broadcast>();
  return b != nullptr ? b->value : expr;
}

template <class T>
std::optional<T> float_result(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Min:
      return std::isnan(b) || b < a ? b : a;
    case BinaryOp::Max:
      return std::isnan(b) || b > a ? b : a;
    default:
      return std::nullopt;
  }
}

// 0 or 1 for a comparison, nothing for other operators.
template <class T>
std::optional<int64_t> comparison(BinaryOp op, T a, T b) {
  switch (op) {
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
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<T> call_result(Intrinsic function, T a, T b) {
  switch (function) {
    case Intrinsic::Neg:
      return -a;
    case Intrinsic::Abs:
      return std::abs(a);
    case Intrinsic::Floor:
      return std::floor(a);
    case Intrinsic::Round:
      return std::nearbyint(a);
    case Intrinsic::Sqrt:
      return std::sqrt(a);
    case Intrinsic::Ldexp:
      if (!(std::abs(b) <= 1100)) return std::nullopt;
      return std::ldexp(a, static_cast<int>(b));
    default:
      return std::nullopt;
  }
}

Expr folded_float(double value, Type type, const Expr& like) {
  return broadcast(float_imm(value, type), like.type().lanes);
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));  // wraps on the minimum
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

std::optional<int64_t> fold_integers(BinaryOp op, Scalar type, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  const auto wrapped = [type](uint64_t value) {
    return wrap_integer(static_cast<int64_t>(value), type);
  };
  switch (op) {
    case BinaryOp::Add:
      return wrapped(ua + ub);
    case BinaryOp::Sub:
      return wrapped(ua - ub);
    case BinaryOp::Mul:
      return wrapped(ua * ub);
    case BinaryOp::Div:
      if (b == 0) return std::nullopt;
      return wrap_integer(floor_div(a, b), type);
    case BinaryOp::Mod:
      if (b == 0) return std::nullopt;
      return floor_mod(a, b);
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight: {
      if (b < 0 || b >= 8 * bytes_of(type)) return std::nullopt;
      return op == BinaryOp::ShiftLeft ? wrapped(ua << ub) : a >> b;
    }
    default:
      return comparison(op, a, b);
  }
}

Expr fold(BinaryOp op, const Expr& a, const Expr& b) {
  const Expr& x = scalar_of(a);
  const Expr& y = scalar_of(b);
  if (const auto *i = x.as<IntImm>(), *j = y.as<IntImm>(); i != nullptr && j != nullptr) {
    const auto value = fold_integers(op, i->type.scalar, i->value, j->value);
    if (!value) return {};
    return int_imm(*value, result_type(op, a.type()));
  }
  const auto *f = x.as<FloatImm>(), *g = y.as<FloatImm>();
  if (f == nullptr || g == nullptr) return {};
  if (const auto truth = comparison(op, f->value, g->value)) {
    return int_imm(*truth, result_type(op, a.type()));
  }
  if (f->type.scalar == Scalar::F32) {
    const auto value = float_result(op, static_cast<float>(f->value), static_cast<float>(g->value));
    return value ? folded_float(*value, f->type, a) : Expr{};
  }
  const auto value = float_result(op, f->value, g->value);
  return value ? folded_float(*value, f->type, a) : Expr{};
}

Expr fold_cast(Scalar to, const Expr& value) {
  const Type type{to, value.type().lanes};
  const Expr& x = scalar_of(value);
  if (const auto* i = x.as<IntImm>()) {
    if (!is_float(to)) return int_imm(wrap_integer(i->value, to), type);
    // To F32 in one rounding; the narrower types are exact or rounded from a double, and a double
    // holds the integers that matter there (|i| < 2^53) exactly.
    if (to == Scalar::F32) return float_imm(static_cast<float>(i->value), type);
    if (to != Scalar::F64 && std::abs(static_cast<double>(i->value)) >= 0x1p53) return {};
    return float_imm(static_cast<double>(i->value), type);
  }
  if (const auto* f = x.as<FloatImm>()) {
    if (is_float(to)) return float_imm(f->value, type);
    return int_imm(convert_to_integer(f->value, to), type);
  }
  return {};
}

Expr fold_call(Intrinsic function, const Expr& a, const Expr& b) {
  const Expr& x = scalar_of(a);
  if (const auto* i = x.as<IntImm>()) {
    const Scalar s = i->type.scalar;
    if (function == Intrinsic::Not) return int_imm(1 - i->value, a.type());
    if (function == Intrinsic::Abs && i->value >= 0) return a;
    if (function != Intrinsic::Neg && function != Intrinsic::Abs) return {};
    return int_imm(*fold_integers(BinaryOp::Sub, s, 0, i->value), a.type());
  }
  const auto* f = x.as<FloatImm>();
  const auto* g = b.defined() ? scalar_of(b).as<FloatImm>() : f;
  if (f == nullptr || g == nullptr) return {};
  if (f->type.scalar == Scalar::F32) {
    const auto value =
        call_result(function, static_cast<float>(f->value), static_cast<float>(g->value));
    return value ? folded_float(*value, f->type, a) : Expr{};
  }
  const auto value = call_result(function, f->value, g->value);
  return value ? folded_float(*value, f->type, a) : Expr{};
}

Expr fold_bitcast(Scalar to, const Expr& value) {
  const Type type{to, value.type().lanes};
  const Expr& x = scalar_of(value);
  if (const auto* i = x.as<IntImm>()) {
    double result = 0;
    switch (to) {
      case Scalar::F64:
        result = std::bit_cast<double>(i->value);
        break;
      case Scalar::F32:
        result = std::bit_cast<float>(static_cast<int32_t>(i->value));
        break;
      case Scalar::F16:
        result = f32_from_f16(static_cast<uint16_t>(i->value));
        break;
      case Scalar::BF16:
        result = f32_from_bf16(static_cast<uint16_t>(i->value));
        break;
      default:
        return int_imm(wrap_integer(i->value, to), type);
    }
    if (std::isnan(result)) return {};  // a constant does not keep the payload
    return float_imm(result, type);
  }
  const auto* f = x.as<FloatImm>();
  if (f == nullptr || std::isnan(f->value) || is_float(to)) return {};
  const auto narrow = static_cast<float>(f->value);
  const auto of_bits = [&](int64_t bits) { return int_imm(wrap_integer(bits, to), type); };
  switch (f->type.scalar) {
    case Scalar::F64:
      return of_bits(std::bit_cast<int64_t>(f->value));
    case Scalar::F32:
      return of_bits(std::bit_cast<int32_t>(narrow));
    case Scalar::F16:
      return of_bits(f16_from_f32(narrow));
    default:
      return of_bits(bf16_from_f32(narrow));
  }
}

Expr fold_fma(const Expr& a, const Expr& b, const Expr& c) {
  const auto *x = scalar_of(a).as<FloatImm>(), *y = scalar_of(b).as<FloatImm>(),
             *z = scalar_of(c).as<FloatImm>();
  if (x == nullptr || y == nullptr || z == nullptr) return {};
  if (x->type.scalar == Scalar::F32) {
    return folded_float(std::fma(static_cast<float>(x->value), static_cast<float>(y->value),
                                 static_cast<float>(z->value)),
                        x->type, c);
  }
  return folded_float(std::fma(x->value, y->value, z->value), x->type, c);
}

}  // namespace tilewright::ir
