#include "graph/arena_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/rng.h"
#include "base/rounding.h"

namespace tilewright::graph {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kMaxTurns = 400;       // of improving a plan
constexpr size_t kMaxWork = 100000000;  // lifetimes examined in all of them

int64_t room_of(const Lifetime& lifetime) { return round_up(lifetime.bytes, kAlignment); }

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Places the lifetimes in the given order, each in the smallest gap that holds it.
ArenaPlan place_all(std::span<const Lifetime> lifetimes, std::span<const size_t> order) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed;  // by rising offset
  placed.reserve(order.size());
  for (const size_t k : order) {
    const int64_t room = room_of(lifetimes[k]);
    int64_t end = 0, best = -1, best_gap = 0;
    for (const size_t other : placed) {
      if (!overlap(lifetimes[k], lifetimes[other])) continue;
      const int64_t gap = plan.offsets[other] - end;
      if (gap >= room && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[other] + room_of(lifetimes[other]));
    }
    plan.offsets[k] = best < 0 ? end : best;
    plan.peak = std::max(plan.peak, plan.offsets[k] + room);
    const auto at = std::ranges::upper_bound(placed, plan.offsets[k], {},
                                             [&](size_t other) { return plan.offsets[other]; });
    placed.insert(at, k);
  }
  return plan;
}

// Repeatedly places the lifetime with the highest end earlier, while the peak does not rise.
void improve(std::span<const Lifetime> lifetimes, int64_t bound, std::vector<size_t>& order,
             ArenaPlan& best) {
  Rng rng(1);
  const size_t count = lifetimes.size();
  const size_t turns = std::min(kMaxTurns, kMaxWork / (count * count + 1));
  for (size_t turn = 0; turn < turns && best.peak > bound; ++turn) {
    const auto highest = std::ranges::find_if(
        order, [&](size_t k) { return best.offsets[k] + room_of(lifetimes[k]) == best.peak; });
    const auto at = highest - order.begin();
    const auto to = static_cast<std::ptrdiff_t>(rng.below(static_cast<uint64_t>(at) + 1));
    std::vector<size_t> other = order;
    std::rotate(other.begin() + to, other.begin() + at, other.begin() + at + 1);
    ArenaPlan plan = place_all(lifetimes, other);
    if (plan.peak > best.peak) continue;
    best = std::move(plan);
    order = std::move(other);
  }
}

}  // namespace

int64_t max_alive(std::span<const Lifetime> lifetimes) {
  std::map<size_t, int64_t> change;
  for (const Lifetime& lifetime : lifetimes) {
    change[lifetime.first] += room_of(lifetime);
    change[lifetime.last + 1] -= room_of(lifetime);
  }
  int64_t alive = 0, max_bytes = 0;
  for (const auto& [step, bytes] : change) {
    alive += bytes;
    max_bytes = std::max(max_bytes, alive);
  }
  return max_bytes;
}

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes) {
  using Rank = std::function<double(const Lifetime&)>;
  const Rank ranks[] = {
      [](const Lifetime& l) { return static_cast<double>(l.bytes); },
      [](const Lifetime& l) {
        return static_cast<double>(l.bytes) * static_cast<double>(l.last - l.first + 1);
      },
      [](const Lifetime& l) { return static_cast<double>(l.last - l.first); },
      [](const Lifetime& l) { return -static_cast<double>(l.first); },
      [](const Lifetime& l) { return static_cast<double>(l.last); },
  };
  const int64_t bound = max_alive(lifetimes);
  ArenaPlan best;
  std::vector<size_t> best_order;
  for (const Rank& rank : ranks) {
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t k) {
      return std::tuple(-rank(lifetimes[k]), -lifetimes[k].bytes, lifetimes[k].first, k);
    });
    ArenaPlan plan = place_all(lifetimes, order);
    if (best.offsets.empty() || plan.peak < best.peak) {
      best = std::move(plan);
      best_order = std::move(order);
    }
    if (best.peak == bound) return best;
  }
  improve(lifetimes, bound, best_order, best);
  return best;
}

}  // namespace tilewright::graph
