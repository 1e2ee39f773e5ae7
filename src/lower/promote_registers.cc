#include "lower/promote_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BufferId;
using ir::Expr;
using ir::Stmt;

constexpr size_t kMaxSlices = 64;
constexpr int64_t kMaxStackBytes = 16 * 1024;
constexpr int64_t kMaxStackBytesTogether = 64 * 1024;

struct Slice {
  int64_t start = 0;
  unsigned lanes = 1;
  BufferId replacement = 0;
};

// One Allocate. Copies of a buffer in several branches are divided into slices independently.
struct Candidate {
  BufferId buffer = 0;
  bool shared = false;    // touched in a Parallel loop inside its Allocate
  bool in_slices = true;  // so far
  int parallel_at_allocate = 0;
  std::vector<Slice> slices;

  const Slice* find(int64_t start) const {
    const auto found = std::ranges::find(slices, start, &Slice::start);
    return found == slices.end() ? nullptr : &*found;
  }
};
using Candidates = std::unordered_map<const ir::StmtNode*, Candidate>;

bool disjoint(std::vector<Slice>& slices) {
  std::ranges::sort(slices, {}, &Slice::start);
  for (size_t k = 1; k < slices.size(); ++k) {
    if (slices[k - 1].start + slices[k - 1].lanes > slices[k].start) return false;
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

class CandidateFinder : public ir::Visitor {
 public:
  explicit CandidateFinder(const ir::Function& function)
      : function_(function), active_(function.buffers.size(), nullptr) {}

  Candidates candidates;

  void visit(const Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) note(load->buffer, load->indices[0]);
    ir::Visitor::visit(expr);
  }

  void visit(const Stmt& stmt) override {
    const auto* allocate = stmt.as<ir::Allocate>();
    if (allocate != nullptr && is_private(allocate->buffer)) {
      return visit_allocate(stmt, *allocate);
    }
    const auto* loop = stmt.as<ir::For>();
    const bool parallel = loop != nullptr && loop->loop_kind == ir::ForKind::Parallel;
    if (const auto* store = stmt.as<ir::Store>()) note(store->buffer, store->indices[0]);
    parallel_around_ += parallel;
    ir::Visitor::visit(stmt);
    parallel_around_ -= parallel;
  }

 private:
  bool is_private(BufferId buffer) const {
    const ir::Scope scope = function_.buffers[buffer].scope;
    return scope != ir::Scope::Register && scope != ir::Scope::Shared;
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

  void note(BufferId buffer, const Expr& index) {
    if (active_[buffer] == nullptr) return;
    Candidate& candidate = *active_[buffer];
    candidate.shared |= parallel_around_ > candidate.parallel_at_allocate;
    if (!candidate.in_slices) return;
    const std::optional<int64_t> start = constant_start(index);
    const unsigned lanes = index.type().lanes;
    if (!start) {
      candidate.in_slices = false;
    } else if (const Slice* known = candidate.find(*start)) {
      candidate.in_slices = known->lanes == lanes;
    } else {
      candidate.slices.push_back({*start, lanes, 0});
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
      : in_memory(function.buffers.size()),
        shared(function.buffers.size()),
        function_(function),
        candidates_(candidates),
        active_(function.buffers.size(), nullptr) {}

  std::vector<bool> in_memory;  // per buffer: some Allocate of it stays
  std::vector<bool> shared;     // ... and several threads use it

  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<ir::Load>();
    if (load == nullptr || !promoted(load->buffer)) return rewrite_children(expr);
    return ir::load(load->type, replacement(load->buffer, load->indices[0]), {ir::int_imm(0)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>(); store != nullptr && promoted(store->buffer)) {
      return ir::make_store(replacement(store->buffer, store->indices[0]), {ir::int_imm(0)},
                            rewrite(store->value), rewrite_optional(store->predicate));
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
      in_memory[candidate.buffer] = true;
      shared[candidate.buffer] = shared[candidate.buffer] || candidate.shared;
      const Candidate* outside = std::exchange(active_[candidate.buffer], nullptr);
      Stmt same = rewrite_children(stmt);
      active_[candidate.buffer] = outside;
      return same;
    }
    for (Slice& slice : candidate.slices) slice.replacement = new_register(candidate, slice);
    const Candidate* outside = std::exchange(active_[candidate.buffer], &candidate);
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
  BufferId replacement(BufferId buffer, const Expr& index) const {
    return active_[buffer]->find(*constant_start(index))->replacement;
  }

  ir::Function& function_;
  Candidates& candidates_;
  std::vector<const Candidate*> active_;  // per buffer: the current Allocate, if promoted
  size_t slices_around_ = 0;
};

// Buffers that stay in memory and are used by one thread move to the stack while there is room.
void move_to_stack(ir::Function& function, const Promoter& promoter) {
  int64_t stack_bytes = 0;
  for (BufferId id = 0; id < promoter.in_memory.size(); ++id) {
    ir::Buffer& memory = function.buffers[id];
    if (!promoter.in_memory[id] || promoter.shared[id] || memory.scope == ir::Scope::Stack)
      continue;
    const int64_t bytes = memory.elements() * ir::bytes_of(memory.element.scalar);
    if (bytes > kMaxStackBytes || stack_bytes + bytes > kMaxStackBytesTogether) continue;
    stack_bytes += bytes;
    memory.scope = ir::Scope::Stack;
  }
}

}  // namespace

void promote_registers(ir::Function& function, const PassContext&) {
  CandidateFinder finder(function);
  finder.visit(function.body);
  Promoter promoter(function, finder.candidates);
  function.body = promoter.rewrite(function.body);
  move_to_stack(function, promoter);
}

}  // namespace tilewright::lower
