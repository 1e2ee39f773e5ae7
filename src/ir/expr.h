// Expressions of the tensor language (te) and of the loop IR: one immutable tree type for both.
//
// An Expr is a reference-counted pointer to a const node. Subtrees may be shared. A function that
// rewrites returns the same node if nothing changed, so `same_as` detects a change. Threads may
// share nodes.
//
// Semantics (types and conversions: ir/type.h).
// - Both operands of a binary operator have the same type and lanes; a comparison gives Bool of
// those
//   lanes. There are no implicit casts or broadcasts.
// - Integer Div and Mod round toward minus infinity: -7 / 2 = -4, -7 mod 2 = 1. A zero divisor is
//   an error of the program. Float Div is IEEE; Mod is not defined on floats.
// - Min and Max of floats return NaN if either operand is NaN, and the first of two equal operands
//   (of -0 and +0: the first).
// - And and Or are strict: both operands are evaluated. Select is lazy: the arm that is not taken
// is
//   not evaluated, so it may load out of bounds or divide by zero. For vectors this holds per lane.
// - Fma is a * b + c rounded once. Nothing else is contracted or reassociated after `lower`.
// - F16 and BF16 have no arithmetic: operands are cast to F32 first, by DagBuilder and `lower`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/name.h"
#include "ir/type.h"

namespace tilewright::ir {

enum class ExprKind : uint8_t {
  IntImm,
  FloatImm,
  Var,
  Cast,
  Binary,
  Fma,
  Select,
  Call,
  Load,
  Ramp,
  Broadcast,
  VectorReduce,
  Dot,
};

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Min,
  Max,  // numbers
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,  // give Bool
  And,
  Or,  // Bool
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,  // integers; ShiftRight is arithmetic on signed
};

// Functions whose result has the type of x. `lower` expands all but those marked (*), which every
// back end implements with the same bits.
enum class Intrinsic : uint8_t {
  Neg,    // (*) flips the sign bit of a float
  Abs,    // (*)
  Not,    // (*) Bool
  Floor,  // (*)
  Round,  // (*) to nearest integer value, ties to even
  Sqrt,   // (*) correctly rounded
  Exp,
  Log,
  Tanh,
  Erf,
  Sigmoid,
  Rsqrt,
  Pow,
  Ldexp,    // (*) x, n: x * 2^n rounded once; n is an integral float of x's type, |n| <= 1100
  Bitcast,  // (*) reinterprets the bits as another type of the same size
};

// How a Dot adds products of floats. Sums of integers are exact or wrap.
enum class DotRounding : uint8_t {
  Ascending,          // from f = 0 up: sum = fma(a, b, sum) in the type of the sum
  DescendingFlushed,  // from f = F - 1 down, and denormal operands and results count as zeros of
                      // their sign: VDPBF16PS (Intel SDM)
};

struct Node {
  mutable std::atomic<uint32_t> references{0};
  ExprKind kind;
  Type type;

 protected:
  Node(ExprKind k, Type t) : kind(k), type(t) {}
};

void destroy(const Node* node);  // frees a node whose last reference is gone

class Expr {
 public:
  Expr() = default;  // the null expression, for optional children
  explicit Expr(const Node* node) : node_(node) { retain(); }
  Expr(const Expr& other) : node_(other.node_) { retain(); }
  Expr(Expr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Expr& operator=(Expr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Expr() { release(); }

  bool defined() const { return node_ != nullptr; }
  ExprKind kind() const { return node_->kind; }
  Type type() const { return node_->type; }
  bool same_as(const Expr& other) const { return node_ == other.node_; }
  const Node* get() const { return node_; }

  // The node as T, or null if it is of another kind.
  template <class T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }

 private:
  friend class ExprReaper;
  void retain() const {
    if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (node_ != nullptr && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy(node_);
    }
  }
  const Node* node_ = nullptr;
};

// The identity of a variable, unique in the process. Names need not be unique.
using VarId = uint32_t;
VarId fresh_var_id();

// What a Load reads: a tensor of the Dag (te) or a buffer of the Function (loop IR), as an index
// into the table of the enclosing object.
using BufferId = uint32_t;

struct IntImm : Node {
  static constexpr ExprKind kKind = ExprKind::IntImm;
  int64_t value;
  IntImm(Type t, int64_t v) : Node(kKind, t), value(v) {}
};
struct FloatImm : Node {
  static constexpr ExprKind kKind = ExprKind::FloatImm;
  double value;  // representable in the type
  FloatImm(Type t, double v) : Node(kKind, t), value(v) {}
};
struct Var : Node {
  static constexpr ExprKind kKind = ExprKind::Var;
  VarId id;
  Name name;
  Var(Type t, VarId i, Name n) : Node(kKind, t), id(i), name(n) {}
};
struct Cast : Node {
  static constexpr ExprKind kKind = ExprKind::Cast;
  Expr value;
  Cast(Type t, Expr v) : Node(kKind, t), value(std::move(v)) {}
};
struct Binary : Node {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryOp op;
  Expr a, b;
  Binary(Type t, BinaryOp o, Expr x, Expr y)
      : Node(kKind, t), op(o), a(std::move(x)), b(std::move(y)) {}
};
struct Fma : Node {  // a * b + c
  static constexpr ExprKind kKind = ExprKind::Fma;
  Expr a, b, c;
  Fma(Expr x, Expr y, Expr z)
      : Node(kKind, z.type()), a(std::move(x)), b(std::move(y)), c(std::move(z)) {}
};
struct Select : Node {
  static constexpr ExprKind kKind = ExprKind::Select;
  Expr condition, if_true, if_false;  // condition has the lanes of the arms
  Select(Expr c, Expr t, Expr f)
      : Node(kKind, t.type()),
        condition(std::move(c)),
        if_true(std::move(t)),
        if_false(std::move(f)) {}
};
struct Call : Node {
  static constexpr ExprKind kKind = ExprKind::Call;
  Intrinsic function;
  std::vector<Expr> args;
  Call(Type t, Intrinsic f, std::vector<Expr> a)
      : Node(kKind, t), function(f), args(std::move(a)) {}
};
// One index per dimension in te and before `flatten`, then one flat element index. A vector load
// has vector indices: a Ramp is a contiguous or strided load, anything else a gather.
struct Load : Node {
  static constexpr ExprKind kKind = ExprKind::Load;
  BufferId buffer;
  std::vector<Expr> indices;
  Load(Type t, BufferId b, std::vector<Expr> i)
      : Node(kKind, t), buffer(b), indices(std::move(i)) {}
};
struct Ramp : Node {  // base, base + stride, ..., `lanes` of them
  static constexpr ExprKind kKind = ExprKind::Ramp;
  Expr base;
  int64_t stride;
  Ramp(Expr b, int64_t s, unsigned lanes)
      : Node(kKind, b.type().with_lanes(lanes)), base(std::move(b)), stride(s) {}
};
struct Broadcast : Node {
  static constexpr ExprKind kKind = ExprKind::Broadcast;
  Expr value;  // a scalar
  Broadcast(Expr v, unsigned lanes)
      : Node(kKind, v.type().with_lanes(lanes)), value(std::move(v)) {}
};
// Reduces the lanes of a vector with Add, Mul, Min, Max, And or Or by halving: with n lanes and the
// largest power of two h < n, lanes k in [0, n-h) become op(lane k, lane k+h); repeat with h lanes.
struct VectorReduce : Node {
  static constexpr ExprKind kKind = ExprKind::VectorReduce;
  BinaryOp op;
  Expr value;
  VectorReduce(BinaryOp o, Expr v) : Node(kKind, v.type().element()), op(o), value(std::move(v)) {}
};
// One step of R * L dot products of F factors at once: lane r * L + l is sum[r * L + l] + sum over
// f of a[r * F + f] * b[l * F + f], where `sum` has R * L lanes, `a` has R * F and `b` has L * F.
// `intrinsic` names the instruction that computes it (schedule/intrinsics.h), which selects one if
// several compute the same.
// - I32 sums of I8 or U8 times I8 or U8: exact products, sums that wrap.
// - F32 sums of F16 times F16 or of BF16 times BF16, F64 sums of F64 times F64: each product is
//   added with one rounding, in the order given by `rounding`.
struct Dot : Node {
  static constexpr ExprKind kKind = ExprKind::Dot;
  Expr sum, a, b;
  unsigned rows;   // R
  Name intrinsic;  // may be empty: any that computes it
  DotRounding rounding;
  Dot(Expr s, Expr x, Expr y, unsigned r, Name i, DotRounding o)
      : Node(kKind, s.type()),
        sum(std::move(s)),
        a(std::move(x)),
        b(std::move(y)),
        rows(r),
        intrinsic(i),
        rounding(o) {}
  unsigned lanes() const { return type.lanes / rows; }        // L
  unsigned factors() const { return a.type().lanes / rows; }  // F
};

// Factory functions. They check operand types and fold constants; arith::simplify does the rest.
Expr int_imm(int64_t value, Type type = kIndex);  // a vector type gives a Broadcast
Expr float_imm(double value, Type type);
Expr imm(double value, Type type);  // an integer or float constant, by the type
Expr var(std::string_view name, Type type = kIndex);
Expr cast(Scalar to, Expr value);  // keeps lanes; the value itself if already of that type
Expr binary(BinaryOp op, Expr a, Expr b);
Expr fma(Expr a, Expr b, Expr c);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr call(Intrinsic function, std::vector<Expr> args);
Expr bitcast(Scalar to, Expr value);
Expr load(Scalar element, BufferId buffer, std::vector<Expr> indices);  // lanes of the indices
Expr load(Type type, BufferId buffer, std::vector<Expr> indices);  // or a whole Register element
Expr ramp(Expr base, int64_t stride, unsigned lanes);              // the base itself if lanes == 1
Expr broadcast(Expr value, unsigned lanes);                        // the value itself if lanes == 1
Expr vector_reduce(BinaryOp op, Expr value);
Expr dot(Expr sum, Expr a, Expr b, unsigned rows = 1, Name intrinsic = {},
         DotRounding rounding = DotRounding::Ascending);

inline Expr operator+(Expr a, Expr b) { return binary(BinaryOp::Add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(BinaryOp::Sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(BinaryOp::Mul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary(BinaryOp::Div, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return binary(BinaryOp::Mod, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return binary(BinaryOp::Lt, std::move(a), std::move(b)); }
inline Expr operator>=(Expr a, Expr b) { return binary(BinaryOp::Ge, std::move(a), std::move(b)); }
inline Expr operator&&(Expr a, Expr b) { return binary(BinaryOp::And, std::move(a), std::move(b)); }
inline Expr operator||(Expr a, Expr b) { return binary(BinaryOp::Or, std::move(a), std::move(b)); }
inline Expr operator+(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) + i;
}
inline Expr operator-(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) - i;
}
inline Expr operator*(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) * i;
}
inline Expr operator/(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) / i;
}
inline Expr operator%(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) % i;
}
inline Expr operator<(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) < i;
}
inline Expr operator>=(Expr a, int64_t b) {
  Expr i = int_imm(b, a.type());
  return std::move(a) >= i;
}
inline Expr min(Expr a, Expr b) { return binary(BinaryOp::Min, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(BinaryOp::Max, std::move(a), std::move(b)); }
inline Expr exp(Expr x) { return call(Intrinsic::Exp, {std::move(x)}); }

std::string_view name_of(BinaryOp op);         // "+", "min", "<=", ...
std::string_view name_of(Intrinsic function);  // "exp", ...

// The value of an integer constant or a Broadcast of one; null for other expressions.
const int64_t* as_int(const Expr& expr);

// The scalar that every lane equals: the operand of a Broadcast, or a scalar itself; null for other
// vectors.
const Expr* uniform_value(const Expr& expr);

}  // namespace tilewright::ir
