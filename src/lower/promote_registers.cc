#include "lower/promote_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/lane_mask.h"
#include "lower/memory_scope.h"

namespace tilewright::lower {
namespace {

using ir::BufferId;
using ir::Expr;
using ir::Stmt;

constexpr size_t kMaxSlices = 64;

struct Slice {
  int64_t start = 0;
  unsigned lanes = 1;
  Expr mask = {};        // of all accesses; undefined: none, or not the same
  bool unmasked = true;  // some access has no mask, or another
  BufferId replacement = 0;

  // Lanes of the buffer; the register has all of them.
  unsigned width() const { return unmasked ? lanes : active_lanes(mask).value_or(lanes); }
};

bool same_mask(const Expr& a, const Expr& b) {
  return a.defined() && b.defined() && ir::equal(a, b);
}

// One Allocate. Copies of a buffer in several branches are divided into slices independently.
struct Candidate {
  BufferId buffer = 0;
  bool shared = false;    // touched in a Parallel or Bound loop inside its Allocate
  bool in_slices = true;  // so far
  int parallel_at_allocate = 0;
  std::vector<Slice> slices;

  Slice* find(int64_t start) {
    const auto found = std::ranges::find(slices, start, &Slice::start);
    return found == slices.end() ? nullptr : &*found;
  }
};
using Candidates = std::unordered_map<const ir::StmtNode*, Candidate>;

bool disjoint(std::vector<Slice>& slices) {
  std::ranges::sort(slices, {}, &Slice::start);
  for (size_t k = 1; k < slices.size(); ++k) {
    if (slices[k - 1].start + slices[k - 1].width() > slices[k].start) return false;
  }
  return true;
}

// The first element of an access with a known location.
std::optional<int64_t> constant_start(const Expr& index) {
  if (const auto* number = index.as<ir::IntImm>()) return number->value;
  const auto* ramp = index.as<ir::Ramp>();
  if (ramp == nullptr || ramp->stride != 1) return {};
  const auto* base = ramp->base.as<ir::IntImm>();
  return base == nullptr ? std::optional<int64_t>{} : base->value;
}

class CandidateFinder : public MaskedVisitor {
 public:
  explicit CandidateFinder(const ir::Function& function)
      : function_(function), active_(function.buffers.size(), nullptr) {}

  Candidates candidates;

  using MaskedVisitor::visit;
  void visit(const Stmt& stmt) override {
    const auto* allocate = stmt.as<ir::Allocate>();
    if (allocate != nullptr && is_private(allocate->buffer)) {
      return visit_allocate(stmt, *allocate);
    }
    const auto* loop = stmt.as<ir::For>();
    const bool parallel = loop != nullptr && loop->is_parallel();
    if (const auto* store = stmt.as<ir::Store>()) return visit_store(*store);
    parallel_around_ += parallel;
    ir::Visitor::visit(stmt);
    parallel_around_ -= parallel;
  }

 private:
  void visit_load(const ir::Load& load, const Expr& mask) override {
    note(load.buffer, load.indices[0], mask);
  }

  void visit_store(const ir::Store& store) {
    const Expr mask = visit_operands(store);
    note(store.buffer, store.indices[0], mask);
  }

  bool is_private(BufferId buffer) const {
    const ir::Buffer& info = function_.buffers[buffer];
    return !info.pinned && info.scope != ir::Scope::Register && is_private_memory(info.scope);
  }

  void visit_allocate(const Stmt& stmt, const ir::Allocate& allocate) {
    Candidate& candidate = candidates[stmt.get()];
    candidate.buffer = allocate.buffer;
    candidate.parallel_at_allocate = parallel_around_;
    Candidate* const outside = std::exchange(active_[allocate.buffer], &candidate);
    visit(allocate.body);
    active_[allocate.buffer] = outside;
    candidate.in_slices = candidate.in_slices && !candidate.shared && disjoint(candidate.slices);
  }

  // `mask`: of the access, if nothing can see its inactive lanes (lane_mask.h).
  void note(BufferId buffer, const Expr& index, const Expr& mask) {
    if (active_[buffer] == nullptr) return;
    Candidate& candidate = *active_[buffer];
    candidate.shared |= parallel_around_ > candidate.parallel_at_allocate;
    if (!candidate.in_slices) return;
    const std::optional<int64_t> start = constant_start(index);
    const unsigned lanes = index.type().lanes;
    if (!start) {
      candidate.in_slices = false;
    } else if (Slice* known = candidate.find(*start)) {
      candidate.in_slices = known->lanes == lanes;
      known->unmasked = known->unmasked || !same_mask(known->mask, mask);
    } else {
      candidate.slices.push_back({*start, lanes, mask, !mask.defined(), 0});
      candidate.in_slices = candidate.slices.size() <= kMaxSlices;
    }
  }

  const ir::Function& function_;
  std::vector<Candidate*> active_;  // per buffer: the current Allocate
  int parallel_around_ = 0;
};

// Also decides, from the outside in, how many slices there may be: at most kMaxSlices live
// together.
class Promoter : public ir::Rewriter {
 public:
  Promoter(ir::Function& function, Candidates& candidates)
      : in_memory_(function.buffers.size()),
        shared_(function.buffers.size()),
        function_(function),
        candidates_(candidates),
        active_(function.buffers.size(), nullptr) {}

  // The buffers that stay in memory and are used by one thread.
  std::vector<BufferId> private_in_memory() const {
    std::vector<BufferId> ids;
    for (BufferId id = 0; id < in_memory_.size(); ++id) {
      if (in_memory_[id] && !shared_[id]) ids.push_back(id);
    }
    return ids;
  }

  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<ir::Load>();
    if (const auto* select = expr.as<ir::Select>()) {
      load = select->if_true.as<ir::Load>();
      if (load != nullptr && !loses_mask(*load, select->condition)) load = nullptr;
    }
    if (load == nullptr || !promoted(load->buffer)) return rewrite_children(expr);
    return ir::load(load->type, slice(load->buffer, load->indices[0]).replacement,
                    {ir::int_imm(0)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>(); store != nullptr && promoted(store->buffer)) {
      const Slice& target = slice(store->buffer, store->indices[0]);
      const Expr predicate = target.unmasked ? rewrite_optional(store->predicate) : Expr();
      return ir::make_store(target.replacement, {ir::int_imm(0)}, rewrite(store->value), predicate);
    }
    const auto* prefetch = stmt.as<ir::Prefetch>();
    if (prefetch != nullptr && promoted(prefetch->buffer)) return {};
    const auto found = candidates_.find(stmt.get());
    if (found == candidates_.end()) return rewrite_children(stmt);
    return rewrite_allocate(stmt, found->second);
  }

 private:
  Stmt rewrite_allocate(const Stmt& stmt, Candidate& candidate) {
    candidate.in_slices =
        candidate.in_slices && slices_around_ + candidate.slices.size() <= kMaxSlices;
    if (!candidate.in_slices) {
      in_memory_[candidate.buffer] = true;
      shared_[candidate.buffer] = shared_[candidate.buffer] || candidate.shared;
      Candidate* const outside = std::exchange(active_[candidate.buffer], nullptr);
      Stmt same = rewrite_children(stmt);
      active_[candidate.buffer] = outside;
      return same;
    }
    for (Slice& slice : candidate.slices) slice.replacement = new_register(candidate, slice);
    Candidate* const outside = std::exchange(active_[candidate.buffer], &candidate);
    slices_around_ += candidate.slices.size();
    Stmt body = rewrite(stmt.as<ir::Allocate>()->body);
    slices_around_ -= candidate.slices.size();
    active_[candidate.buffer] = outside;
    for (auto slice = candidate.slices.rbegin(); slice != candidate.slices.rend(); ++slice) {
      body = ir::make_allocate(slice->replacement, std::move(body));
    }
    return body;
  }

  BufferId new_register(const Candidate& candidate, const Slice& slice) {
    const ir::Buffer& memory = function_.buffers[candidate.buffer];
    function_.buffers.push_back(
        {.name = fmt::format("{}.{}", memory.name, &slice - candidate.slices.data()),
         .element = memory.element.with_lanes(slice.lanes),
         .shape = {1},
         .scope = ir::Scope::Register,
         .alignment = memory.alignment});
    return static_cast<BufferId>(function_.buffers.size() - 1);
  }

  bool promoted(BufferId buffer) const {
    return buffer < active_.size() && active_[buffer] != nullptr;
  }
  const Slice& slice(BufferId buffer, const Expr& index) const {
    return *active_[buffer]->find(*constant_start(index));
  }
  // All accesses of the slice have this mask, and nothing reads its other lanes.
  bool loses_mask(const ir::Load& load, const Expr& mask) const {
    if (!promoted(load.buffer)) return false;
    const Slice& found = slice(load.buffer, load.indices[0]);
    return !found.unmasked && ir::equal(found.mask, mask);
  }

  std::vector<bool> in_memory_;  // per buffer: some Allocate of it stays
  std::vector<bool> shared_;     // ... and several threads use it
  ir::Function& function_;
  Candidates& candidates_;
  std::vector<Candidate*> active_;  // per buffer: the current Allocate, if promoted
  size_t slices_around_ = 0;
};

}  // namespace

void promote_registers(ir::Function& function, const PassContext&) {
  CandidateFinder finder(function);
  finder.visit(function.body);
  Promoter promoter(function, finder.candidates);
  function.body = promoter.rewrite(function.body);
  move_to_stack(function, promoter.private_in_memory());
}

}  // namespace tilewright::lower
