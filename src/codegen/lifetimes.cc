#include "codegen/lifetimes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/check.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

class Clock {
 public:
  explicit Clock(const ir::Function& function)
      : function_(function),
        lifetimes_(function.buffers.size()),
        allocated_(function.buffers.size()) {}

  std::vector<Lifetime> run() {
    walk(function_.body);
    return std::move(lifetimes_);
  }

 private:
  struct Loop {
    int64_t begin = 0;
    bool parallel = false;
    std::set<ir::BufferId> touched;  // buffers for which it counts as a whole
  };
  struct Allocation {
    size_t loops = 0;  // number of loops outside the one that counts as a whole
    std::optional<TimeRange> alive;
  };

  void walk(const ir::Stmt& stmt);
  void walk_loop(const ir::For& loop);
  void walk_allocate(const ir::Allocate& allocate);

  void read(const ir::Expr& expr) {
    seen_.clear();
    read_node(expr);
  }
  void read_node(const ir::Expr& expr) {
    if (!seen_.insert(expr.get()).second) return;  // expressions are dags
    if (const auto* load = expr.as<ir::Load>()) touch(load->buffer);
    ir::for_each_child(expr, [this](const ir::Expr& child) { read_node(child); });
  }
  void touch(ir::BufferId id) {
    if (!allocated_[id]) return;
    if (allocated_[id]->loops < loops_.size()) {
      loops_[allocated_[id]->loops].touched.insert(id);
    } else {
      extend(id, {now_, now_});
    }
  }
  void extend(ir::BufferId id, TimeRange range) {
    if (!allocated_[id]) {  // a Parallel loop around its Allocate has ended
      lifetimes_[id].ranges.push_back(range);
      return;
    }
    std::optional<TimeRange>& alive = allocated_[id]->alive;
    if (alive) range.first = std::min(range.first, alive->first);
    alive = range;
  }

  const ir::Function& function_;
  std::vector<Lifetime> lifetimes_;
  std::vector<std::optional<Allocation>> allocated_;  // by BufferId
  std::vector<Loop> loops_;
  std::unordered_set<const ir::Node*> seen_;
  int64_t now_ = 0;
};

void Clock::walk(const ir::Stmt& stmt) {
  if (!stmt.defined()) return;
  ++now_;
  switch (stmt.kind()) {
    case ir::StmtKind::For:
      return walk_loop(*stmt.as<ir::For>());
    case ir::StmtKind::Allocate:
      return walk_allocate(*stmt.as<ir::Allocate>());
    case ir::StmtKind::If: {
      const auto* branch = stmt.as<ir::If>();
      read(branch->condition);
      walk(branch->then_body);
      return walk(branch->else_body);
    }
    case ir::StmtKind::Let:
      read(stmt.as<ir::Let>()->value);
      return walk(stmt.as<ir::Let>()->body);
    case ir::StmtKind::Store: {
      const auto* store = stmt.as<ir::Store>();
      read(store->value);
      for (const ir::Expr& index : store->indices) read(index);
      if (store->predicate.defined()) read(store->predicate);
      return touch(store->buffer);
    }
    case ir::StmtKind::Transpose:
      for (const ir::Square* square :
           {&stmt.as<ir::Transpose>()->from, &stmt.as<ir::Transpose>()->to}) {
        read(square->index);
        touch(square->buffer);
      }
      return;
    case ir::StmtKind::Prefetch:
      for (const ir::Expr& index : stmt.as<ir::Prefetch>()->indices) read(index);
      return;
    case ir::StmtKind::Block:
      for (const ir::Stmt& child : stmt.as<ir::Block>()->stmts) walk(child);
      return;
  }
}

void Clock::walk_loop(const ir::For& loop) {
  read(loop.extent);
  ++now_;
  loops_.push_back({.begin = now_, .parallel = loop.is_parallel(), .touched = {}});
  walk(loop.body);
  const Loop done = std::move(loops_.back());
  loops_.pop_back();
  ++now_;
  for (ir::BufferId id : done.touched) extend(id, {done.begin, now_});
}

void Clock::walk_allocate(const ir::Allocate& allocate) {
  CHECK(!allocated_[allocate.buffer], "a buffer is allocated inside its own Allocate");
  size_t outside = loops_.size();
  if (function_.buffers[allocate.buffer].scope == ir::Scope::Workspace) {
    const auto parallel = std::ranges::find_if(loops_, &Loop::parallel);
    outside = static_cast<size_t>(parallel - loops_.begin());
  }
  allocated_[allocate.buffer] = {.loops = outside, .alive = {}};
  walk(allocate.body);
  const std::optional<TimeRange> alive = allocated_[allocate.buffer]->alive;
  allocated_[allocate.buffer].reset();
  if (alive) lifetimes_[allocate.buffer].ranges.push_back(*alive);
}

}  // namespace

std::vector<Lifetime> lifetimes_of(const ir::Function& function) { return Clock(function).run(); }

bool overlap(const Lifetime& a, const Lifetime& b) {
  return std::ranges::any_of(a.ranges, [&](const TimeRange& x) {
    return std::ranges::any_of(
        b.ranges, [&](const TimeRange& y) { return x.first <= y.last && y.first <= x.last; });
  });
}

}  // namespace tilewright::codegen
