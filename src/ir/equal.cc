#include "ir/equal.h"

#include <bit>
#include <vector>

namespace tilewright::ir {
namespace {

// Compares two trees under a growing list of pairs of binders.
class Comparer {
 public:
  bool same(const Expr& a, const Expr& b);
  bool same(const Stmt& a, const Stmt& b);

 private:
  bool same(const std::vector<Expr>& a, const std::vector<Expr>& b);
  bool same_optional(const Expr& a, const Expr& b) {
    return a.defined() && b.defined() ? same(a, b) : a.defined() == b.defined();
  }
  bool same_var(VarId a, VarId b) const;
  bool same_body(const Expr& var_a, const Stmt& a, const Expr& var_b, const Stmt& b);
  // While every binder is paired with itself, a node equals itself.
  bool identity_suffices() const { return renamed_ == 0; }

  std::vector<std::pair<VarId, VarId>> bound_;  // innermost last
  size_t renamed_ = 0;                          // pairs of two different variables
};

bool Comparer::same_var(VarId a, VarId b) const {
  for (size_t k = bound_.size(); k-- > 0;) {
    const bool is_a = bound_[k].first == a, is_b = bound_[k].second == b;
    if (is_a || is_b) return is_a && is_b;
  }
  return a == b;
}

bool Comparer::same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (!same(a[k], b[k])) return false;
  }
  return true;
}

bool Comparer::same(const Expr& a, const Expr& b) {
  if (a.same_as(b) && identity_suffices()) return true;
  if (a.kind() != b.kind() || a.type() != b.type()) return false;
  switch (a.kind()) {
    case ExprKind::IntImm:
      return a.as<IntImm>()->value == b.as<IntImm>()->value;
    case ExprKind::FloatImm:  // by bits: -0 is not 0, and a NaN is itself
      return std::bit_cast<uint64_t>(a.as<FloatImm>()->value) ==
             std::bit_cast<uint64_t>(b.as<FloatImm>()->value);
    case ExprKind::Var:
      return same_var(a.as<Var>()->id, b.as<Var>()->id);
    case ExprKind::Cast:
      return same(a.as<Cast>()->value, b.as<Cast>()->value);
    case ExprKind::Binary: {
      const auto *x = a.as<Binary>(), *y = b.as<Binary>();
      return x->op == y->op && same(x->a, y->a) && same(x->b, y->b);
    }
    case ExprKind::Fma: {
      const auto *x = a.as<Fma>(), *y = b.as<Fma>();
      return same(x->a, y->a) && same(x->b, y->b) && same(x->c, y->c);
    }
    case ExprKind::Select: {
      const auto *x = a.as<Select>(), *y = b.as<Select>();
      return same(x->condition, y->condition) && same(x->if_true, y->if_true) &&
             same(x->if_false, y->if_false);
    }
    case ExprKind::Call: {
      const auto *x = a.as<Call>(), *y = b.as<Call>();
      return x->function == y->function && same(x->args, y->args);
    }
    case ExprKind::Load: {
      const auto *x = a.as<Load>(), *y = b.as<Load>();
      return x->buffer == y->buffer && same(x->indices, y->indices);
    }
    case ExprKind::Ramp: {
      const auto *x = a.as<Ramp>(), *y = b.as<Ramp>();
      return x->stride == y->stride && same(x->base, y->base);
    }
    case ExprKind::Broadcast:
      return same(a.as<Broadcast>()->value, b.as<Broadcast>()->value);
    case ExprKind::VectorReduce: {
      const auto *x = a.as<VectorReduce>(), *y = b.as<VectorReduce>();
      return x->op == y->op && same(x->value, y->value);
    }
    case ExprKind::Dot: {
      const auto *x = a.as<Dot>(), *y = b.as<Dot>();
      return x->rows == y->rows && x->intrinsic == y->intrinsic && x->rounding == y->rounding &&
             same(x->sum, y->sum) && same(x->a, y->a) && same(x->b, y->b);
    }
  }
  return false;
}

bool Comparer::same_body(const Expr& var_a, const Stmt& a, const Expr& var_b, const Stmt& b) {
  const VarId id_a = var_a.as<Var>()->id, id_b = var_b.as<Var>()->id;
  const size_t renames = id_a == id_b ? 0 : 1;
  bound_.emplace_back(id_a, id_b);
  renamed_ += renames;
  const bool result = var_a.type() == var_b.type() && same(a, b);
  renamed_ -= renames;
  bound_.pop_back();
  return result;
}

bool Comparer::same(const Stmt& a, const Stmt& b) {
  if (a.same_as(b) && (identity_suffices() || !a.defined())) return true;
  if (!a.defined() || !b.defined() || a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case StmtKind::For: {
      const auto *x = a.as<For>(), *y = b.as<For>();
      return x->loop_kind == y->loop_kind && x->intrinsic == y->intrinsic && x->axis == y->axis &&
             same(x->extent, y->extent) && same_body(x->var, x->body, y->var, y->body);
    }
    case StmtKind::If: {
      const auto *x = a.as<If>(), *y = b.as<If>();
      return same(x->condition, y->condition) && same(x->then_body, y->then_body) &&
             same(x->else_body, y->else_body);
    }
    case StmtKind::Let: {
      const auto *x = a.as<Let>(), *y = b.as<Let>();
      return same(x->value, y->value) && same_body(x->var, x->body, y->var, y->body);
    }
    case StmtKind::Store: {
      const auto *x = a.as<Store>(), *y = b.as<Store>();
      return x->buffer == y->buffer && x->stream == y->stream && same(x->indices, y->indices) &&
             same(x->value, y->value) && same_optional(x->predicate, y->predicate);
    }
    case StmtKind::Transpose: {
      const auto *x = a.as<Transpose>(), *y = b.as<Transpose>();
      const auto same_square = [this](const Square& p, const Square& q) {
        return p.buffer == q.buffer && p.stride == q.stride && same(p.index, q.index);
      };
      return x->size == y->size && same_square(x->to, y->to) && same_square(x->from, y->from);
    }
    case StmtKind::Prefetch: {
      const auto *x = a.as<Prefetch>(), *y = b.as<Prefetch>();
      return x->buffer == y->buffer && same(x->indices, y->indices);
    }
    case StmtKind::Allocate: {
      const auto *x = a.as<Allocate>(), *y = b.as<Allocate>();
      return x->buffer == y->buffer && same(x->body, y->body);
    }
    case StmtKind::Block: {
      const auto &x = a.as<Block>()->stmts, &y = b.as<Block>()->stmts;
      if (x.size() != y.size()) return false;
      for (size_t k = 0; k < x.size(); ++k) {
        if (!same(x[k], y[k])) return false;
      }
      return true;
    }
  }
  return false;
}

// Adds an expression to a Hasher. Every node is framed by its kind and type, every list by its
// length.
class HashWalker {
 public:
  HashWalker(Hasher& hasher, const VarNumbering& number_of)
      : hasher_(hasher), number_of_(number_of) {}

  void walk(const Expr& expr);

 private:
  void walk(const std::vector<Expr>& list) {
    hasher_.add(list.size());
    for (const Expr& expr : list) walk(expr);
  }

  Hasher& hasher_;
  const VarNumbering& number_of_;
};

void HashWalker::walk(const Expr& expr) {
  const Type type = expr.type();
  hasher_.add(uint64_t{type.lanes} << 16 | static_cast<uint64_t>(type.scalar) << 8 |
              static_cast<uint64_t>(expr.kind()));
  switch (expr.kind()) {
    case ExprKind::IntImm:
      hasher_.add_signed(expr.as<IntImm>()->value);
      return;
    case ExprKind::FloatImm:
      hasher_.add(std::bit_cast<uint64_t>(expr.as<FloatImm>()->value));
      return;
    case ExprKind::Var:
      hasher_.add(2 * number_of_(expr.as<Var>()->id));  // stored hashes have even numbers
      return;
    case ExprKind::Cast:
      return walk(expr.as<Cast>()->value);
    case ExprKind::Binary: {
      const auto* n = expr.as<Binary>();
      hasher_.add(static_cast<uint64_t>(n->op));
      walk(n->a), walk(n->b);
      return;
    }
    case ExprKind::Fma: {
      const auto* n = expr.as<Fma>();
      walk(n->a), walk(n->b), walk(n->c);
      return;
    }
    case ExprKind::Select: {
      const auto* n = expr.as<Select>();
      walk(n->condition), walk(n->if_true), walk(n->if_false);
      return;
    }
    case ExprKind::Call:
      hasher_.add(static_cast<uint64_t>(expr.as<Call>()->function));
      return walk(expr.as<Call>()->args);
    case ExprKind::Load:
      hasher_.add(expr.as<Load>()->buffer);
      return walk(expr.as<Load>()->indices);
    case ExprKind::Ramp:
      hasher_.add_signed(expr.as<Ramp>()->stride);
      return walk(expr.as<Ramp>()->base);
    case ExprKind::Broadcast:
      return walk(expr.as<Broadcast>()->value);
    case ExprKind::VectorReduce:
      hasher_.add(static_cast<uint64_t>(expr.as<VectorReduce>()->op));
      return walk(expr.as<VectorReduce>()->value);
    case ExprKind::Dot: {
      const auto* n = expr.as<Dot>();
      hasher_.add(n->rows).add(static_cast<uint64_t>(n->rounding)).add_text(n->intrinsic.text());
      walk(n->sum), walk(n->a), walk(n->b);
      return;
    }
  }
}

}  // namespace

bool equal(const Expr& a, const Expr& b) {
  if (!a.defined() || !b.defined()) return a.same_as(b);
  return Comparer().same(a, b);
}
bool equal(const Stmt& a, const Stmt& b) { return Comparer().same(a, b); }

void hash_into(Hasher& hasher, const Expr& expr, const VarNumbering& number_of) {
  HashWalker(hasher, number_of).walk(expr);
}

}  // namespace tilewright::ir
