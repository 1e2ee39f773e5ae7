#include "lower/widen_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/access_list.h"
#include "lower/reduction_store.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::BufferId;
using ir::Expr;
using ir::Stmt;

struct VectorAccumulator {
  const ir::Store* store = nullptr;  // element = element op reduce(op, vector)
  BinaryOp op = BinaryOp::Add;
  Expr element;  // the Load
  Expr vector;
  BufferId in_register = 0;
};

std::optional<VectorAccumulator> match(const ir::Store& store) {
  const std::optional<ReductionStore> reduction = match_reduction(store);
  if (!reduction) return {};
  const auto* reduce = reduction->value.as<ir::VectorReduce>();
  if (reduce == nullptr || reduce->op != reduction->op) return {};
  return VectorAccumulator{&store, reduce->op, reduction->self, reduce->value, 0};
}

bool may_fold(const VectorAccumulator& accumulator, const FloatPermissions& permissions) {
  const bool sums = accumulator.op == BinaryOp::Add || accumulator.op == BinaryOp::Mul;
  return !sums || !ir::is_float(accumulator.vector.type()) || permissions.reassociate;
}

// a op b, as fma where b is a product.
Expr folded(BinaryOp op, Expr a, Expr b, const FloatPermissions& permissions) {
  const auto* product = b.as<ir::Binary>();
  const bool contract = permissions.contract && op == BinaryOp::Add && product != nullptr &&
                        product->op == BinaryOp::Mul && ir::is_float(product->type);
  return contract ? ir::fma(product->a, product->b, std::move(a))
                  : ir::binary(op, std::move(a), std::move(b));
}

// All vectors folded into one, in as few dependent steps as possible.
Expr folded(BinaryOp op, std::vector<Expr> vectors, const FloatPermissions& permissions) {
  while (vectors.size() > 1) {
    const size_t half = vectors.size() / 2;
    for (size_t v = 0; v < half; ++v) {
      vectors[v] = folded(op, vectors[v], vectors[vectors.size() - half + v], permissions);
    }
    vectors.resize(vectors.size() - half);
  }
  return vectors[0];
}

// The store that reduces the lanes of a vector into the element of the accumulator.
Stmt reduced_once(const VectorAccumulator& a, Expr vector) {
  return ir::make_store(a.store->buffer, a.store->indices,
                        ir::binary(a.op, a.element, ir::vector_reduce(a.op, std::move(vector))), {},
                        a.store->stream);
}

class LoadFinder : public ir::Visitor {
 public:
  explicit LoadFinder(BufferId buffer) : buffer_(buffer) {}
  bool found = false;

  using ir::Visitor::visit;
  void visit(const Expr& expr) override {
    const auto* load = expr.as<ir::Load>();
    found = found || (load != nullptr && load->buffer == buffer_);
    if (!found) ir::Visitor::visit(expr);
  }

 private:
  BufferId buffer_;
};

bool loads_from(const Expr& expr, BufferId buffer) {
  LoadFinder finder(buffer);
  finder.visit(expr);
  return finder.found;
}

// Combines neighboring reductions into the same element.
class ReductionCombiner : public ir::Rewriter {
 public:
  explicit ReductionCombiner(const FloatPermissions& permissions) : permissions_(permissions) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = rewrite_children(stmt);
    const auto* block = result.defined() ? result.as<ir::Block>() : nullptr;
    if (block == nullptr) return result;
    std::vector<Stmt> stmts;
    for (size_t k = 0; k < block->stmts.size();) {
      const std::vector<VectorAccumulator> run = run_from(block->stmts, k);
      stmts.push_back(run.size() > 1 ? combined(run) : block->stmts[k]);
      k += std::max<size_t>(1, run.size());
    }
    return stmts.size() == block->stmts.size() ? result : ir::make_block(std::move(stmts));
  }

 private:
  std::vector<VectorAccumulator> run_from(const std::vector<Stmt>& stmts, size_t first) const {
    std::vector<VectorAccumulator> run;
    for (size_t k = first; k < stmts.size(); ++k) {
      const auto* store = stmts[k].as<ir::Store>();
      std::optional<VectorAccumulator> found = store == nullptr ? std::nullopt : match(*store);
      if (!found || !may_fold(*found, permissions_)) break;
      if (loads_from(found->vector, store->buffer)) break;
      const bool same =
          run.empty() || (found->op == run[0].op && found->vector.type() == run[0].vector.type() &&
                          ir::equal(found->element, run[0].element));
      if (!same) break;
      run.push_back(std::move(*found));
    }
    return run;
  }

  Stmt combined(const std::vector<VectorAccumulator>& run) const {
    std::vector<Expr> vectors;
    vectors.reserve(run.size());
    for (const VectorAccumulator& each : run) vectors.push_back(each.vector);
    return reduced_once(run.back(), folded(run[0].op, std::move(vectors), permissions_));
  }

  const FloatPermissions& permissions_;
};

class ReduceFinder : public ir::Visitor {
 public:
  bool found = false;

  using ir::Visitor::visit;
  void visit(const Expr& expr) override {
    found = found || expr.as<ir::VectorReduce>() != nullptr;
    if (!found && expr.as<ir::Load>() == nullptr) ir::Visitor::visit(expr);
  }
};

constexpr int kOtherVectors = 4;  // registers left for other values than sums
constexpr int kMinRegisters = 16;

class ReductionWidener : public ir::Rewriter {
 public:
  ReductionWidener(ir::Function& function, const PassContext& context)
      : function_(function),
        permissions_(context.permissions),
        registers_(static_cast<size_t>(
            std::max(kMinRegisters, context.target.vector_registers() - kOtherVectors))),
        list_(list_accesses(function)) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    if (stmt.as<ir::For>() != nullptr) return rewrite_loop(stmt, list_.loops[next_loop_++]);
    const auto* store = stmt.as<ir::Store>();
    if (store == nullptr) return rewrite_children(stmt);
    const auto found = accumulators_.find(store);
    return found == accumulators_.end() ? stmt : update(found->second);
  }

 private:
  Stmt rewrite_loop(const Stmt& stmt, const LoopAccesses& loop) {
    std::vector<VectorAccumulator> found = accumulators_of(loop);
    for (VectorAccumulator& accumulator : found) {
      accumulator.in_register = new_register(accumulator);
      accumulators_.emplace(accumulator.store, accumulator);
    }
    Stmt inside = rewrite_children(stmt);
    if (found.empty()) return inside;
    for (const VectorAccumulator& accumulator : found) accumulators_.erase(accumulator.store);
    return wrapped(found, std::move(inside));
  }

  // Reductions of buffers that the loop only folds into, in every iteration, at elements that exist
  // outside it.
  std::vector<VectorAccumulator> accumulators_of(const LoopAccesses& loop) const {
    const int64_t* extent = ir::as_int(loop.loop->extent);
    const bool repeats = extent != nullptr && *extent > 1;
    if (loop.loop->loop_kind != ir::ForKind::Serial || loop.has_parallel || !repeats) return {};
    std::vector<VectorAccumulator> result;
    std::vector<BufferId> tried;
    for (const Access& access : list_.of(loop)) {
      if (access.store == nullptr || std::ranges::count(tried, access.buffer) > 0) continue;
      tried.push_back(access.buffer);
      std::vector<VectorAccumulator> found = accumulators_of(access.buffer, loop);
      if (result.size() + found.size() > registers_) continue;
      std::ranges::move(found, std::back_inserter(result));
    }
    return result;
  }

  std::vector<VectorAccumulator> accumulators_of(BufferId buffer, const LoopAccesses& loop) const {
    std::vector<VectorAccumulator> result;
    size_t loads = 0;
    for (const Access& access : list_.of(loop)) {
      if (access.buffer != buffer) continue;
      const bool always = access.condition_depth < loop.depth;
      if (access.index_depth >= loop.depth || !always) return {};
      if (access.load != nullptr) {
        ++loads;
        continue;
      }
      std::optional<VectorAccumulator> found = match(*access.store);
      if (!found || accumulators_.contains(access.store)) return {};
      if (!result.empty() && found->op != result[0].op) return {};
      if (!may_fold(*found, permissions_)) return {};
      result.push_back(std::move(*found));
    }
    if (loads != result.size()) return {};  // another statement reads the element
    return result;
  }

  Stmt update(const VectorAccumulator& accumulator) const {
    const BufferId id = accumulator.in_register;
    const Expr held = ir::load(accumulator.vector.type(), id, {ir::int_imm(0)});
    Expr value = folded(accumulator.op, held, accumulator.vector, permissions_);
    return ir::make_store(id, {ir::int_imm(0)}, std::move(value));
  }

  Stmt wrapped(const std::vector<VectorAccumulator>& accumulators, Stmt inside) const {
    std::vector<Stmt> stmts;
    stmts.reserve(2 * accumulators.size() + 1);
    for (const VectorAccumulator& a : accumulators) {
      stmts.push_back(
          ir::make_store(a.in_register, {ir::int_imm(0)}, identity_of(a.op, a.vector.type())));
    }
    stmts.push_back(std::move(inside));
    std::vector<bool> done(accumulators.size(), false);
    for (size_t k = 0; k < accumulators.size(); ++k) {
      if (done[k]) continue;
      const VectorAccumulator& a = accumulators[k];
      // Of the same element: combined as vectors, then reduced over lanes once.
      std::vector<Expr> vectors;
      for (size_t other = k; other < accumulators.size(); ++other) {
        const VectorAccumulator& b = accumulators[other];
        const bool same =
            a.op == b.op && a.vector.type() == b.vector.type() && ir::equal(a.element, b.element);
        if (!same) continue;
        done[other] = true;
        vectors.push_back(ir::load(b.vector.type(), b.in_register, {ir::int_imm(0)}));
      }
      stmts.push_back(reduced_once(a, folded(a.op, std::move(vectors), permissions_)));
    }
    Stmt result = ir::make_block(std::move(stmts));
    for (auto a = accumulators.rbegin(); a != accumulators.rend(); ++a) {
      result = ir::make_allocate(a->in_register, std::move(result));
    }
    return result;
  }

  BufferId new_register(const VectorAccumulator& accumulator) {
    const auto id = static_cast<BufferId>(function_.buffers.size());
    std::string name =
        fmt::format("{}.v{}", function_.buffers[accumulator.store->buffer].name, next_ordinal_++);
    function_.buffers.push_back({.name = std::move(name),
                                 .element = accumulator.vector.type(),
                                 .shape = {1},
                                 .scope = ir::Scope::Register});
    return id;
  }

  ir::Function& function_;
  const FloatPermissions& permissions_;
  size_t registers_;  // available per loop for accumulators
  AccessList list_;
  std::unordered_map<const ir::Store*, VectorAccumulator> accumulators_;
  size_t next_loop_ = 0;
  int next_ordinal_ = 0;
};

}  // namespace

void widen_reductions(ir::Function& function, const PassContext& context) {
  ReduceFinder finder;
  finder.visit(function.body);
  if (!finder.found) return;
  function.body = ReductionWidener(function, context).rewrite(function.body);
  function.body = ReductionCombiner(context.permissions).rewrite(function.body);
}

}  // namespace tilewright::lower
