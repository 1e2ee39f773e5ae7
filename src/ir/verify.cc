#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/print.h"
#include "ir/typing.h"
#include "ir/visit.h"

namespace tilewright::ir {
namespace {

constexpr uint32_t bit_of(ThreadAxis axis) { return 1u << static_cast<unsigned>(axis); }
constexpr uint32_t kBlockBits =
    bit_of(ThreadAxis::BlockX) | bit_of(ThreadAxis::BlockY) | bit_of(ThreadAxis::BlockZ);

// Checks a function, tracking variables and buffers in scope. Stops at the first error.
class Verifier {
 public:
  explicit Verifier(const Function& function) : function_(function) {}

  Status run() {
    check_arguments();
    if (fault_.empty() && function_.body.defined()) walk(function_.body);
    if (fault_.empty()) return {};
    return fail(ErrorKind::Build, fmt::format("{}: {}{}", function_.name, fault_, where()));
  }

 private:
  bool failed() const { return !fault_.empty(); }
  void expect(bool condition, const char* what) {
    if (!condition && !failed()) fault_ = what;
  }
  template <class... Args>
  void expect_named(bool condition, fmt::format_string<Args...> what, Args&&... args) {
    if (!condition && !failed()) fault_ = fmt::format(what, std::forward<Args>(args)...);
  }

  // The first line of the innermost statement being checked.
  std::string where() const {
    if (!current_.defined()) return "";
    return fmt::format("; at `{}`", brief(current_, [this](BufferId id) { return name_of(id); }));
  }
  std::string name_of(BufferId id) const {
    return id < function_.buffers.size() ? function_.buffers[id].name : fmt::format("b{}", id);
  }

  void check_arguments();
  void walk(const Expr& expr);
  void walk(const Stmt& stmt);
  void walk_stmt(const Stmt& stmt);
  void walk_for(const For& loop);
  void walk_bound(const Expr& var, const Stmt& body);
  void walk_allocate(const Allocate& allocate);
  void walk_transpose(const Transpose& transpose);
  void check_access(BufferId id, const std::vector<Expr>& indices, Type value);
  bool is_bound(VarId id) const { return std::ranges::count(bound_, id) > 0; }

  const Function& function_;
  Stmt current_;
  std::vector<VarId> bound_;
  std::vector<bool> available_;  // by BufferId: an argument, or allocated above
  std::vector<bool> writable_;   // by BufferId
  bool in_parallel_ = false;
  uint32_t axes_ = 0;                     // of the Bound loops around, a bit per ThreadAxis
  std::unordered_set<const Node*> seen_;  // shared nodes of this statement, each checked once
  std::string fault_;
};

void Verifier::check_arguments() {
  available_.assign(function_.buffers.size(), false);
  writable_.assign(function_.buffers.size(), true);
  expect(function_.argument_written.size() == function_.arguments.size(),
         "argument_written is not parallel to arguments");
  for (size_t k = 0; k < function_.arguments.size() && !failed(); ++k) {
    const BufferId id = function_.arguments[k];
    expect_named(id < function_.buffers.size(), "argument {} is not a buffer", k);
    if (failed()) return;
    expect_named(function_.buffers[id].scope == Scope::Argument,
                 "argument `{}` has another scope than Argument", name_of(id));
    expect_named(!available_[id], "argument `{}` is listed twice", name_of(id));
    available_[id] = true;
    writable_[id] = function_.argument_written[k];
  }
  for (const Buffer& buffer : function_.buffers) {
    const bool vector_ok = buffer.scope == Scope::Register || !buffer.element.is_vector();
    expect_named(vector_ok, "buffer `{}` has vector elements outside of registers", buffer.name);
  }
}

void Verifier::check_access(BufferId id, const std::vector<Expr>& indices, Type value) {
  expect_named(id < function_.buffers.size(), "access to b{}, which is not a buffer", id);
  if (failed()) return;
  const Buffer& buffer = function_.buffers[id];
  expect_named(available_[id], "`{}` is accessed outside of its Allocate", buffer.name);
  for (const Expr& index : indices) {
    expect_named(index.type().scalar == Scalar::I64, "index of `{}` is not I64", buffer.name);
  }
  if (failed()) return;
  if (buffer.scope == Scope::Register) {
    const bool at_zero = indices.size() == 1 && indices[0].as<IntImm>() != nullptr &&
                         indices[0].as<IntImm>()->value == 0;
    expect_named(at_zero, "register `{}` is not accessed at index 0", buffer.name);
    expect_named(value == buffer.element, "register `{}` of {} is accessed as {}", buffer.name,
                 to_string(buffer.element), to_string(value));
    return;
  }
  expect_named(indices.size() == buffer.shape.size(), "`{}` has {} dimensions, not {}", buffer.name,
               buffer.shape.size(), indices.size());
  expect_named(value.scalar == buffer.element.scalar, "`{}` of {} is accessed as {}", buffer.name,
               to_string(buffer.element), to_string(value));
  if (indices.empty()) expect(!value.is_vector(), "vector access without an index");
  for (const Expr& index : indices) {
    expect_named(index.type().lanes == value.lanes, "`{}` is accessed as {} with an index of {}",
                 buffer.name, to_string(value), to_string(index.type()));
  }
}

void Verifier::walk(const Expr& expr) {
  if (failed()) return;
  expect(expr.defined(), "a null expression");
  if (failed()) return;
  const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1;
  if (shared && !seen_.insert(expr.get()).second) return;
  for_each_child(expr, [this](const Expr& child) { walk(child); });
  if (failed()) return;
  if (const char* fault = type_fault(*expr.get())) {
    fault_ = fmt::format("{} in `{}`", fault, brief(expr));
  } else if (const auto* v = expr.as<Var>()) {
    expect_named(is_bound(v->id), "variable `{}` is not bound here", v->name.text());
  } else if (const auto* load = expr.as<Load>()) {
    check_access(load->buffer, load->indices, load->type);
  }
}

void Verifier::walk_bound(const Expr& var, const Stmt& body) {
  const VarId id = var.as<Var>()->id;
  expect_named(!is_bound(id), "variable `{}` is bound already", var.as<Var>()->name.text());
  bound_.push_back(id);
  walk(body);
  bound_.pop_back();
}

void Verifier::walk_for(const For& loop) {
  expect(loop.var.as<Var>() != nullptr && loop.var.type() == kIndex,
         "the loop variable is not an I64 Var");
  walk(loop.extent);
  expect(loop.extent.defined() && loop.extent.type() == kIndex, "the extent is not I64");
  if (failed()) return;
  expect((loop.loop_kind == ForKind::Bound) == (loop.axis != ThreadAxis::None),
         "a loop has an axis if it is Bound");
  const bool outer = in_parallel_;
  const uint32_t outer_axes = axes_;
  if (loop.loop_kind == ForKind::Parallel) {
    expect(!in_parallel_, "a Parallel loop inside a Parallel loop");
    expect(axes_ == 0, "a Parallel loop inside a Bound loop");
    in_parallel_ = true;
  } else if (loop.loop_kind == ForKind::Bound) {
    const uint32_t bit = bit_of(loop.axis);
    expect(!in_parallel_, "a Bound loop inside a Parallel loop");
    expect_named(!is_block(loop.axis) || (axes_ & ~kBlockBits) == 0,
                 "a loop of {} inside a loop of threads", word_of(loop.axis));
    expect_named((axes_ & bit) == 0 || loop.axis == ThreadAxis::VirtualThread,
                 "a loop of {} inside another", word_of(loop.axis));
    axes_ |= bit;
  }
  walk_bound(loop.var, loop.body);
  in_parallel_ = outer;
  axes_ = outer_axes;
}

void Verifier::walk_allocate(const Allocate& allocate) {
  const BufferId id = allocate.buffer;
  expect_named(id < function_.buffers.size(), "allocation of b{}, which is not a buffer", id);
  if (failed()) return;
  expect_named(function_.buffers[id].scope != Scope::Argument, "argument `{}` is allocated",
               name_of(id));
  expect_named(!available_[id], "`{}` is allocated inside its own Allocate", name_of(id));
  available_[id] = true;
  walk(allocate.body);
  available_[id] = false;
}

void Verifier::walk_transpose(const Transpose& transpose) {
  for (const Square* square : {&transpose.to, &transpose.from}) {
    walk(square->index);
    expect_named(square->buffer < function_.buffers.size(),
                 "transpose of b{}, which is not a buffer", square->buffer);
    if (failed()) return;
    const Buffer& buffer = function_.buffers[square->buffer];
    expect_named(buffer.scope != Scope::Register, "transpose of register `{}`", buffer.name);
    check_access(square->buffer, {square->index}, buffer.element);
  }
  if (failed()) return;
  const BufferId to = transpose.to.buffer, from = transpose.from.buffer;
  expect_named(to != from, "`{}` is transposed into itself", name_of(to));
  expect_named(function_.buffers[to].element == function_.buffers[from].element,
               "`{}` is transposed into another type", name_of(from));
  expect_named(writable_[to], "transpose into `{}`, which is an input", name_of(to));
}

void Verifier::walk(const Stmt& stmt) {
  if (failed()) return;
  const Stmt outer = current_;
  if (stmt.defined()) current_ = stmt;
  seen_.clear();
  walk_stmt(stmt);
  if (!failed()) current_ = outer;  // an error keeps its statement
}

void Verifier::walk_stmt(const Stmt& stmt) {
  expect(stmt.defined(), "a null statement");
  if (failed()) return;
  switch (stmt.kind()) {
    case StmtKind::For:
      return walk_for(*stmt.as<For>());
    case StmtKind::If: {
      const auto* n = stmt.as<If>();
      walk(n->condition);
      expect(n->condition.defined() && n->condition.type() == kBool,
             "the condition is not a scalar Bool");
      walk(n->then_body);
      if (n->else_body.defined()) walk(n->else_body);
      return;
    }
    case StmtKind::Let: {
      const auto* n = stmt.as<Let>();
      walk(n->value);
      if (failed()) return;
      expect(n->var.as<Var>() != nullptr && n->var.type() == n->value.type(),
             "Let of a variable of another type than its value");
      if (!failed()) walk_bound(n->var, n->body);
      return;
    }
    case StmtKind::Store: {
      const auto* n = stmt.as<Store>();
      for (const Expr& index : n->indices) walk(index);
      walk(n->value);
      if (n->predicate.defined()) walk(n->predicate);
      if (failed()) return;
      expect(
          !n->predicate.defined() || n->predicate.type() == kBool.with_lanes(n->value.type().lanes),
          "the predicate is not a Bool of the value's lanes");
      check_access(n->buffer, n->indices, n->value.type());
      if (!failed()) {
        expect_named(writable_[n->buffer], "store to `{}`, which is an input", name_of(n->buffer));
      }
      return;
    }
    case StmtKind::Transpose:
      return walk_transpose(*stmt.as<Transpose>());
    case StmtKind::Prefetch: {
      const auto* n = stmt.as<Prefetch>();
      for (const Expr& index : n->indices) walk(index);
      expect_named(n->buffer < function_.buffers.size(), "prefetch of b{}, which is not a buffer",
                   n->buffer);
      if (failed()) return;
      const Buffer& buffer = function_.buffers[n->buffer];
      expect_named(buffer.scope != Scope::Register, "prefetch of register `{}`", buffer.name);
      return check_access(n->buffer, n->indices, buffer.element);
    }
    case StmtKind::Allocate:
      return walk_allocate(*stmt.as<Allocate>());
    case StmtKind::Block: {
      const auto* n = stmt.as<Block>();
      expect(n->stmts.size() >= 2, "a Block of fewer than two statements");
      for (const Stmt& child : n->stmts) {
        expect(child.as<Block>() == nullptr, "a Block inside a Block");
        walk(child);
      }
      return;
    }
  }
}

}  // namespace

Status verify(const Function& function) { return Verifier(function).run(); }

}  // namespace tilewright::ir
