#include "codegen/workspace.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/rounding.h"
#include "codegen/lifetimes.h"

namespace tilewright::codegen {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kPage = 4096;
constexpr int64_t kSkew = 128;

struct Allocation {
  ir::BufferId buffer = 0;
  int64_t bytes = 0;
  int64_t begin = 0;

  int64_t end() const { return round_up(begin + bytes, kAlignment); }
};

// Assigns offsets to the buffers of one scope; returns their total size.
class Placement {
 public:
  Placement(const ir::Function& function, const std::vector<Lifetime>& lifetimes)
      : function_(function), lifetimes_(lifetimes) {}

  int64_t place(ir::Scope scope, std::vector<int64_t>& offset) {
    std::vector<Allocation> allocations = allocations_of(scope);
    int64_t bytes = 0;
    for (size_t k = 0; k < allocations.size(); ++k) {
      allocations[k].begin = lowest_free(allocations[k], {allocations.data(), k});
      offset[allocations[k].buffer] = allocations[k].begin;
      bytes = std::max(bytes, allocations[k].end());
    }
    return bytes;
  }

 private:
  std::vector<Allocation> allocations_of(ir::Scope scope) const {
    std::vector<Allocation> allocations;
    for (ir::BufferId id = 0; id < function_.buffers.size(); ++id) {
      const ir::Buffer& buffer = function_.buffers[id];
      if (buffer.scope != scope) continue;
      allocations.push_back(
          {.buffer = id,
           .bytes = buffer.elements() * int64_t{ir::bytes_of(buffer.element.scalar)},
           .begin = 0});
    }
    std::ranges::sort(allocations, [](const Allocation& a, const Allocation& b) {
      return std::pair(b.bytes, a.buffer) < std::pair(a.bytes, b.buffer);
    });
    return allocations;
  }

  int64_t lowest_free(const Allocation& one, std::span<const Allocation> placed) const {
    std::vector<Allocation> others;
    std::vector<int64_t> candidates = {0};
    for (const Allocation& other : placed) {
      if (!overlap(lifetimes_[one.buffer], lifetimes_[other.buffer])) continue;
      others.push_back(other);
      candidates.push_back(other.end());
    }
    std::ranges::sort(candidates);
    for (int64_t begin : candidates) {
      begin = unlike(begin, one.bytes, others);
      const bool free = std::ranges::none_of(others, [&](const Allocation& other) {
        return begin < other.end() && other.begin < begin + one.bytes;
      });
      if (free) return begin;
    }
    return candidates.back();
  }

  // `begin`, advanced until no other large buffer starts at the same offset within a page.
  static int64_t unlike(int64_t begin, int64_t bytes, std::span<const Allocation> others) {
    if (bytes < kPage) return begin;
    for (int64_t moved = begin; moved < begin + kPage; moved += kSkew) {
      const bool alike = std::ranges::any_of(others, [&](const Allocation& other) {
        return other.bytes >= kPage && (moved - other.begin) % kPage == 0;
      });
      if (!alike) return moved;
    }
    return begin;
  }

  const ir::Function& function_;
  const std::vector<Lifetime>& lifetimes_;
};

}  // namespace

WorkspacePlan plan_workspace(const ir::Function& function) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(function);
  Placement placement(function, lifetimes);
  WorkspacePlan plan;
  plan.offset.assign(function.buffers.size(), -1);
  plan.shared = placement.place(ir::Scope::Workspace, plan.offset);
  plan.per_thread = placement.place(ir::Scope::Thread, plan.offset);
  if (plan.per_thread > 0) plan.per_thread = round_up(plan.per_thread, kPage) + kSkew;
  return plan;
}

}  // namespace tilewright::codegen
