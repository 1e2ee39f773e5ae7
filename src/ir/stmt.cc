#include "ir/stmt.h"

#include <bit>

namespace tilewright::ir {

// Frees a tree of statements without recursion, as ExprReaper does for expressions.
class StmtReaper {
 public:
  void free_tree(const StmtNode* root) {
    free_node(root);
    while (!pending_.empty()) {
      const StmtNode* node = pending_.back();
      pending_.pop_back();
      free_node(node);
    }
  }

 private:
  void free_node(const StmtNode* node) {
    switch (node->kind) {
      case StmtKind::For:
        return free_with(static_cast<const For*>(node), &For::body);
      case StmtKind::If:
        return free_with(static_cast<const If*>(node), &If::then_body, &If::else_body);
      case StmtKind::Let:
        return free_with(static_cast<const Let*>(node), &Let::body);
      case StmtKind::Store:
        return free_with(static_cast<const Store*>(node));
      case StmtKind::Transpose:
        return free_with(static_cast<const Transpose*>(node));
      case StmtKind::Prefetch:
        return free_with(static_cast<const Prefetch*>(node));
      case StmtKind::Allocate:
        return free_with(static_cast<const Allocate*>(node), &Allocate::body);
      case StmtKind::Block: {
        auto* dead = const_cast<Block*>(static_cast<const Block*>(node));
        for (Stmt& child : dead->stmts) drop(child);
        delete dead;
        return;
      }
    }
  }

  template <class T, class... Member>
  void free_with(const T* node, Member... member) {
    T* dead = const_cast<T*>(node);  // the last reference is gone
    (drop(dead->*member), ...);
    delete dead;
  }

  void drop(Stmt& child) {
    const StmtNode* node = std::exchange(child.node_, nullptr);
    if (node == nullptr || node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    pending_.push_back(node);
  }

  std::vector<const StmtNode*> pending_;
};

void destroy(const StmtNode* node) {
  StmtReaper reaper;
  reaper.free_tree(node);
}

namespace {

Stmt checked_for(Expr var, Expr extent, ForKind kind, Name intrinsic, ThreadAxis axis, Stmt body) {
  CHECK(var.as<Var>() != nullptr && var.type() == kIndex, "a loop variable is an I64 Var");
  CHECK(extent.defined() && extent.type() == kIndex, "an extent is I64");
  CHECK((kind == ForKind::Bound) == (axis != ThreadAxis::None), "a Bound loop has an axis");
  CHECK(body.defined(), "a loop has a body");
  return Stmt(new For(std::move(var), std::move(extent), kind, intrinsic, axis, std::move(body)));
}

}  // namespace

Stmt make_for(Expr var, Expr extent, ForKind kind, Stmt body, Name intrinsic) {
  return checked_for(std::move(var), std::move(extent), kind, intrinsic, ThreadAxis::None,
                     std::move(body));
}

Stmt make_bound_for(Expr var, Expr extent, ThreadAxis axis, Stmt body) {
  return checked_for(std::move(var), std::move(extent), ForKind::Bound, {}, axis, std::move(body));
}

Stmt make_for_like(const For& loop, Expr var, Expr extent, Stmt body) {
  return checked_for(std::move(var), std::move(extent), loop.loop_kind, loop.intrinsic, loop.axis,
                     std::move(body));
}

Stmt make_if(Expr condition, Stmt then_body, Stmt else_body) {
  CHECK(condition.defined() && condition.type() == kBool, "a condition is a scalar Bool");
  CHECK(then_body.defined(), "an If has a body");
  return Stmt(new If(std::move(condition), std::move(then_body), std::move(else_body)));
}

Stmt make_let(Expr var, Expr value, Stmt body) {
  CHECK(var.as<Var>() != nullptr && value.defined(), "a Let binds a Var to a value");
  CHECK(var.type() == value.type(), "Let of {} with a value of {}", to_string(var.type()),
        to_string(value.type()));
  CHECK(body.defined(), "a Let has a body");
  return Stmt(new Let(std::move(var), std::move(value), std::move(body)));
}

Stmt make_store(BufferId buffer, std::vector<Expr> indices, Expr value, Expr predicate,
                bool stream) {
  CHECK(value.defined(), "a Store has a value");
  for (const Expr& index : indices) {
    CHECK(index.defined() && index.type().scalar == Scalar::I64, "an index is I64");
    const uint16_t lanes = index.type().lanes;
    // A scalar index with a vector value stores the whole element of a Register buffer.
    CHECK(lanes == indices[0].type().lanes && (lanes == 1 || lanes == value.type().lanes),
          "index of {} lanes for a value of {}", lanes, to_string(value.type()));
  }
  if (predicate.defined()) {
    CHECK(predicate.type() == kBool.with_lanes(value.type().lanes), "predicate of {} for {}",
          to_string(predicate.type()), to_string(value.type()));
    const int64_t* known = as_int(predicate);
    if (known != nullptr && *known != 0) predicate = {};
  }
  return Stmt(
      new Store(buffer, std::move(indices), std::move(value), std::move(predicate), stream));
}

Stmt make_transpose(Square to, Square from, int64_t size) {
  for (const Square* square : {&to, &from}) {
    CHECK(square->index.defined() && square->index.type() == kIndex,
          "an index of a Transpose is a scalar I64");
  }
  CHECK(size >= 4 && std::has_single_bit(static_cast<uint64_t>(size)), "a square of {} rows", size);
  CHECK(to.stride >= size, "rows of {} that are {} apart are written", size, to.stride);
  return Stmt(new Transpose(std::move(to), std::move(from), size));
}

Stmt make_prefetch(BufferId buffer, std::vector<Expr> indices) {
  for (const Expr& index : indices) {
    CHECK(index.defined() && index.type() == kIndex, "an index of a Prefetch is a scalar I64");
  }
  return Stmt(new Prefetch(buffer, std::move(indices)));
}

Stmt make_allocate(BufferId buffer, Stmt body) {
  CHECK(body.defined(), "an Allocate has a body");
  return Stmt(new Allocate(buffer, std::move(body)));
}

Stmt make_block(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  flat.reserve(stmts.size());
  for (Stmt& stmt : stmts) {
    if (!stmt.defined()) continue;
    if (const auto* block = stmt.as<Block>()) {
      flat.insert(flat.end(), block->stmts.begin(), block->stmts.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.empty()) return {};
  if (flat.size() == 1) return flat[0];
  return Stmt(new Block(std::move(flat)));
}

}  // namespace tilewright::ir
