#include "lower/hoist_accumulators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/access_list.h"

namespace tilewright::lower {
namespace {

using ir::BufferId;
using ir::Expr;
using ir::Stmt;

constexpr size_t kMaxRegisters = 32;

// The accesses of a loop to one accumulator of a buffer.
struct Accumulator {
  const Access* first = nullptr;
  bool always_stored = false;
  bool stream = false;
  BufferId in_register = 0;

  bool starts_with_store() const { return first->store != nullptr; }
  Expr index() const {
    return first->store != nullptr ? first->store->indices[0] : first->load->indices[0];
  }
  ir::Type type() const {
    return first->store != nullptr ? first->store->value.type() : first->load->type;
  }
};

class Hoister : public ir::Rewriter {
 public:
  explicit Hoister(ir::Function& function)
      : function_(function), list_(list_accesses(function)), taken_(function.buffers.size()) {}

  Expr rewrite(const Expr& expr) override {
    if (registers_.empty()) return rewrite_children(expr);
    const auto* load = expr.as<ir::Load>();
    if (const auto* select = expr.as<ir::Select>()) {  // a masked load loses its mask
      load = select->if_true.as<ir::Load>();
      if (load != nullptr && !unmasked_.contains(load)) load = nullptr;
    }
    if (load == nullptr) return rewrite_children(expr);
    const auto found = registers_.find(load);
    if (found == registers_.end()) return rewrite_children(expr);
    return ir::load(load->type, found->second, {ir::int_imm(0)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (stmt.as<ir::For>() != nullptr) return rewrite_loop(stmt, list_.loops[next_loop_++]);
    const auto* store = stmt.as<ir::Store>();
    if (store == nullptr || registers_.empty()) return rewrite_children(stmt);
    const auto found = registers_.find(store);
    if (found == registers_.end()) return rewrite_children(stmt);
    const Expr predicate = unmasked_.contains(store) ? Expr() : rewrite_optional(store->predicate);
    return ir::make_store(found->second, {ir::int_imm(0)}, rewrite(store->value), predicate);
  }

 private:
  Stmt rewrite_loop(const Stmt& stmt, const LoopAccesses& loop) {
    std::vector<Accumulator> accumulators = accumulators_to_hoist(loop);
    if (accumulators.empty()) return rewrite_children(stmt);
    const std::vector<const void*> replaced = enter(loop, accumulators);
    Stmt inside = rewrite_children(stmt);
    for (const void* access : replaced) registers_.erase(access);
    for (const Accumulator& accumulator : accumulators) taken_[accumulator.first->buffer] = false;
    return wrapped(accumulators, std::move(inside));
  }

  // Assigns a register to each accumulator; returns the accesses that now use one.
  std::vector<const void*> enter(const LoopAccesses& loop, std::vector<Accumulator>& accumulators) {
    for (Accumulator& accumulator : accumulators) {
      taken_[accumulator.first->buffer] = true;
      accumulator.in_register = new_register(accumulator);
    }
    std::vector<const void*> replaced;
    for (const Access& access : list_.of(loop)) {
      if (!taken_[access.buffer]) continue;
      const auto accumulator = std::ranges::find_if(accumulators, [&](const Accumulator& p) {
        return p.first->buffer == access.buffer && p.first->index.constant == access.index.constant;
      });
      if (accumulator == accumulators.end()) continue;  // in registers of an outer loop
      const void* node = access.load != nullptr ? static_cast<const void*>(access.load)
                                                : static_cast<const void*>(access.store);
      if (registers_.emplace(node, accumulator->in_register).second) replaced.push_back(node);
      if (access.mask.defined()) unmasked_.insert(node);
    }
    return replaced;
  }

  static Stmt wrapped(const std::vector<Accumulator>& accumulators, Stmt inside) {
    std::vector<Stmt> stmts;
    for (const Accumulator& accumulator : accumulators) {
      if (accumulator.starts_with_store()) continue;
      Expr value = ir::load(accumulator.type(), accumulator.first->buffer, {accumulator.index()});
      if (const Expr& mask = accumulator.first->mask; mask.defined()) {
        value = ir::select(mask, value, ir::imm(0, value.type()));
      }
      stmts.push_back(ir::make_store(accumulator.in_register, {ir::int_imm(0)}, std::move(value)));
    }
    stmts.push_back(std::move(inside));
    for (const Accumulator& accumulator : accumulators) {
      stmts.push_back(
          ir::make_store(accumulator.first->buffer, {accumulator.index()},
                         ir::load(accumulator.type(), accumulator.in_register, {ir::int_imm(0)}),
                         accumulator.first->mask, accumulator.stream));
    }
    Stmt result = ir::make_block(std::move(stmts));
    for (auto accumulator = accumulators.rbegin(); accumulator != accumulators.rend();
         ++accumulator) {
      result = ir::make_allocate(accumulator->in_register, std::move(result));
    }
    return result;
  }

  std::vector<Accumulator> accumulators_to_hoist(const LoopAccesses& loop) const {
    const int64_t* extent = ir::as_int(loop.loop->extent);
    if (loop.loop->loop_kind != ir::ForKind::Serial || loop.has_parallel) return {};
    if (extent == nullptr || *extent < 2) return {};
    std::vector<BufferId> tried;
    std::vector<Accumulator> result;
    for (const Access& access : list_.of(loop)) {
      if (access.store == nullptr || access.index_depth >= loop.depth) continue;
      if (taken_[access.buffer] || std::ranges::count(tried, access.buffer) > 0) continue;
      tried.push_back(access.buffer);
      if (function_.buffers[access.buffer].scope == ir::Scope::Register) continue;
      std::vector<Accumulator> accumulators = accumulators_of(access.buffer, loop);
      if (result.size() + accumulators.size() > kMaxRegisters) continue;
      std::ranges::move(accumulators, std::back_inserter(result));
    }
    return result;
  }

  // The accumulators of a buffer in a loop; empty if they cannot be distinguished or hoisted.
  std::vector<Accumulator> accumulators_of(BufferId buffer, const LoopAccesses& loop) const {
    std::vector<Accumulator> accumulators;
    for (const Access& access : list_.of(loop)) {
      if (access.buffer != buffer) continue;
      if (!access.dense || access.index_depth >= loop.depth) return {};
      const bool always = access.condition_depth < loop.depth;
      bool known = false;
      for (Accumulator& accumulator : accumulators) {
        const int64_t apart = access.index.constant - accumulator.first->index.constant;
        if (apart == 0 && access.lanes == accumulator.first->lanes &&
            same_mask(access.mask, accumulator.first->mask)) {
          known = true;
          accumulator.always_stored |= always && access.store != nullptr;
          accumulator.stream |= access.store != nullptr && access.store->stream;
        } else if (apart < accumulator.first->lanes && -apart < access.lanes) {
          return {};  // overlap
        }
      }
      if (known) continue;
      if (!always || accumulators.size() == kMaxRegisters) return {};
      if (!accumulators.empty() && !same_terms(access.index, accumulators[0].first->index))
        return {};
      const bool stores = access.store != nullptr;
      accumulators.push_back({&access, stores, stores && access.store->stream, 0});
    }
    std::erase_if(accumulators,
                  [](const Accumulator& accumulator) { return !accumulator.always_stored; });
    return accumulators;
  }

  static bool same_mask(const Expr& a, const Expr& b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    return ir::equal(a, b);
  }

  BufferId new_register(const Accumulator& accumulator) {
    const ir::Buffer& memory = function_.buffers[accumulator.first->buffer];
    const auto id = static_cast<BufferId>(function_.buffers.size());
    std::string name = fmt::format("{}.{}", memory.name, next_ordinal_++);
    function_.buffers.push_back({.name = std::move(name),
                                 .element = accumulator.type(),
                                 .shape = {1},
                                 .scope = ir::Scope::Register});
    taken_.push_back(false);
    return id;
  }

  ir::Function& function_;
  AccessList list_;
  std::vector<bool> taken_;  // per BufferId: kept in registers by an outer loop
  std::unordered_map<const void*, BufferId> registers_;  // Load or Store -> its register
  std::unordered_set<const void*> unmasked_;  // of these, the ones whose masks are dropped
  size_t next_loop_ = 0;
  int next_ordinal_ = 0;
};

}  // namespace

void hoist_accumulators(ir::Function& function, const PassContext&) {
  function.body = Hoister(function).rewrite(function.body);
}

}  // namespace tilewright::lower
