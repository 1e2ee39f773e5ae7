#include "feature/traffic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "schedule/region.h"
#include "te/iterations.h"

namespace tilewright::feature {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

constexpr int64_t kLineBytes = 64;

// A point in the program: within one iteration of a loop, or the whole program.
struct Point {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
};

// A use of a buffer by a stage: one of its reads, or its store.
struct Use {
  StageIndex stage = kNone;
  BufferIndex buffer = kNone;
  const Access* access = nullptr;  // null: the store
  bool accumulates = false;        // a store that a reduction reads back
};

// The number of values of a variable while the loops outside the point are fixed.
int64_t moving_extent(const LoopTree& tree, VarIndex index, Point point) {
  const LoopVar& var = tree.var(index);
  if (var.is_split()) {
    int64_t last = 0;
    for (int k = 0; k < var.parts; ++k) {
      const auto part = static_cast<VarIndex>(var.first_part + k);
      last += (moving_extent(tree, part, point) - 1) * tree.var(part).stride;
    }
    return std::min(var.extent, last + 1);
  }
  if (point.stage == kNone) return var.extent;
  return is_outside(tree, index, point.stage, point.loop) == Outside::Yes ? 1 : var.extent;
}

// Trip count of a loop; the mean if its last tile is smaller.
double trips_of(const LoopTree& tree, VarIndex index) {
  const LoopVar& var = tree.var(index);
  const auto extent = static_cast<double>(var.extent);
  if (var.origin == VarOrigin::Fused) {
    double product = 1;
    for (VarIndex m = var.first_member; m != kNone; m = tree.var(m).next_member) {
      product *= trips_of(tree, m);
    }
    return product;
  }
  if (var.origin != VarOrigin::Part || var.part != 0) return extent;
  const LoopVar& whole = tree.var(var.parent);
  const bool smaller = tail_of(whole) == Tail::Peel || tail_of(whole) == Tail::Mask;
  if (!smaller || whole.remainder == 0) return extent;
  return std::max(1.0, static_cast<double>(whole.extent) / static_cast<double>(var.stride));
}

class Estimator {
 public:
  Estimator(const LoopTree& tree, std::vector<MemoryLevel> levels, Calls calls)
      : tree_(tree), calls_(calls) {
    traffic_.levels = std::move(levels);
    for (const StageIndex index : tree.order) {
      const Stage& stage = tree.stage(index);
      if (!stage.has_loops()) continue;
      for (const Access& access : tree.reads_of(stage)) {
        uses_.push_back({index, access.buffer, &access});
      }
      const te::Op& op = tree.dag->op(stage.op);
      for (int k = 0; k < stage.buffers; ++k) {
        const auto buffer = static_cast<BufferIndex>(stage.first_buffer + k);
        uses_.push_back(
            {index, buffer, nullptr, op.has_reduction() && stage.kind != StageKind::Copy});
      }
    }
  }

  Traffic run() {
    add_flop();
    for (size_t k = 0; k < tree_.buffers.size(); ++k) add_buffer(static_cast<BufferIndex>(k));
    for (size_t level = 0; level < traffic_.levels.size(); ++level) add_level(level);
    std::erase_if(traffic_.buffers, [&](const BufferTraffic& buffer) {
      return std::ranges::all_of(buffer.bytes, [](double bytes) { return bytes == 0; }) &&
             !buffer.is_argument;
    });
    return std::move(traffic_);
  }

 private:
  void add_flop() {
    traffic_.flop = tree_.dag->flop();
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.kind != StageKind::Compute && stage.kind != StageKind::Partial) continue;
      const te::Op& op = tree_.dag->op(stage.op);
      traffic_.computed_flop +=
          tree_.dag->flop(stage.op) * computed(index) / std::max(1.0, te::trip_count(op));
    }
  }

  // Elements that a stage computes; for an inlined stage, where it is read.
  double computed(StageIndex index) const {
    const Stage& stage = tree_.stage(index);
    if (stage.place != Attachment::Inlined) return iterations(index);
    double count = 0;
    std::map<StageIndex, bool> seen;
    for (const Use& use : uses_) {
      if (use.access == nullptr || use.access->via == kNone) continue;
      if (use.access->via != index || std::exchange(seen[use.stage], true)) continue;
      count += iterations(use.stage);
    }
    return count;
  }

  double iterations(StageIndex index) const {
    double count = 1;
    for (const Point& point : chain_of(index)) count *= trips_of(tree_, point.loop);
    return count;
  }

  // The loops around the body of a stage, outermost first.
  std::vector<Point> chain_of(StageIndex index) const {
    std::vector<Point> chain;
    int count = static_cast<int>(tree_.stage(index).loops.size());
    for (StageIndex at = index;;) {
      const Stage& stage = tree_.stage(at);
      std::vector<Point> own;
      own.reserve(static_cast<size_t>(count));
      for (int k = 0; k < count; ++k) own.push_back({at, stage.loops[static_cast<size_t>(k)]});
      chain.insert(chain.begin(), own.begin(), own.end());
      if (stage.place != Attachment::At) return chain;
      count = tree_.var(stage.at_loop).position + 1;
      at = stage.at_stage;
    }
  }

  void add_buffer(BufferIndex index) {
    const Buffer& buffer = tree_.buffer(index);
    BufferTraffic entry{.name = tree_.stage(buffer.stage).name,
                        .size_bytes = static_cast<double>(ir::bytes_of(buffer.element)),
                        .is_argument = buffer.is_argument,
                        .bytes = std::vector<double>(traffic_.levels.size())};
    for (const int64_t extent : buffer.extent) entry.size_bytes *= static_cast<double>(extent);
    traffic_.buffers.push_back(std::move(entry));
    double touched = 0;
    for (const Use& use : uses_) {
      if (use.buffer == index) touched = std::max(touched, region_bytes(use, {}, 1));
    }
    if (buffer.is_argument) traffic_.compulsory_bytes += touched;
  }

  // Bytes that a use touches while the loops outside the point are fixed.
  double region_bytes(const Use& use, Point point, int64_t granule) const {
    const Buffer& buffer = tree_.buffer(use.buffer);
    std::array<int64_t, kMaxRank> extent{};
    if (use.access != nullptr) {
      std::array<RegionDim, kMaxRank> dims;
      region_of(tree_, *use.access, point.stage, point.loop, dims.data());
      for (size_t d = 0; d < buffer.rank; ++d) {
        extent[d] = dims[d].exact ? (dims[d].extent - 1) / std::max<int64_t>(1, dims[d].stride) + 1
                                  : dims[d].extent;
        if (dims[d].whole) extent[d] = moved_along(use.access->first_dim + d, dims[d], point);
        extent[d] = std::min(extent[d], buffer.extent[d]);
      }
    } else {
      const Stage& stage = tree_.stage(use.stage);
      for (size_t d = 0; d < buffer.rank; ++d) {
        extent[d] = moving_extent(tree_, stage.dims[d], point);
      }
    }
    return lines_of(buffer, extent, granule);
  }

  // If a guard may cut off a region at the edge of the tensor: the range of the index.
  int64_t moved_along(size_t dim, const RegionDim& region, Point point) const {
    if (!tree_.dims[dim].affine) return region.extent;
    int64_t last = 0;
    for (const arith::Term& term : tree_.forms[dim].terms) {
      const int64_t steps = moving_extent(tree_, static_cast<VarIndex>(term.var), point) - 1;
      last += steps * std::abs(term.coefficient);
    }
    return last + 1;
  }

  // Contiguous elements move together; a packed buffer is contiguous as a whole.
  static double lines_of(const Buffer& buffer, const std::array<int64_t, kMaxRank>& extent,
                         int64_t granule) {
    const auto element = static_cast<double>(ir::bytes_of(buffer.element));
    double rows = 1;
    double run = element;
    bool together = true;
    for (size_t d = buffer.rank; d-- > 0;) {
      const bool joins = together || buffer.packed_for != kNone;
      (joins ? run : rows) *= static_cast<double>(extent[d]);
      together = together && extent[d] == buffer.storage_shape()[d];
    }
    const auto grain = static_cast<double>(granule);
    return rows * std::max(1.0, std::ceil(run / grain)) * grain;
  }

  // The footprint of one iteration of a loop, or its accumulators only: the largest region of each
  // buffer.
  double footprint(Point point, int64_t granule, bool sums_only = false) const {
    std::map<BufferIndex, double> largest;
    for (const Use& use : uses_) {
      if (sums_only && !use.accumulates) continue;
      if (point.stage != kNone && !is_within(tree_, use.stage, point.stage, point.loop)) continue;
      double& bytes = largest[use.buffer];
      bytes = std::max(bytes, region_bytes(use, point, granule));
    }
    double sum = 0;
    for (const auto& [buffer, bytes] : largest) sum += bytes;
    return sum;
  }

  // Cache: by loop and whether accumulators only.
  using Fits = std::map<std::pair<VarIndex, bool>, bool>;

  void add_level(size_t level) {
    MemoryLevel& memory = traffic_.levels[level];
    const double all = footprint({}, memory.granule);
    if (stays(memory, all)) {
      if (traffic_.stays_in.empty()) traffic_.stays_in = memory.name;
      return;
    }
    const bool all_fits = all <= static_cast<double>(memory.capacity);
    Fits fits;
    std::map<BufferIndex, double> once;  // if all data fits: the largest region of each argument
    for (const Use& use : uses_) {
      const double bytes = all_fits ? 0 : bytes_of(use, memory, fits);
      traffic_.buffers[static_cast<size_t>(use.buffer)].bytes[level] += bytes;
      if (all_fits && tree_.buffer(use.buffer).is_argument) {
        double& largest = once[use.buffer];
        largest = std::max(largest, region_bytes(use, {}, memory.granule));
      }
    }
    for (const auto& [buffer, bytes] : once) {
      traffic_.buffers[static_cast<size_t>(buffer)].bytes[level] = bytes;
    }
    for (const BufferTraffic& buffer : traffic_.buffers) memory.bytes += buffer.bytes[level];
  }

  // Registers keep nothing between calls.
  bool stays(const MemoryLevel& memory, double all) const {
    const auto holds = static_cast<double>(std::max(memory.capacity, memory.holds));
    return calls_ == Calls::Warm && !memory.keeps_sums && all <= holds;
  }

  double bytes_of(const Use& use, const MemoryLevel& memory, Fits& fits) const {
    const std::vector<Point> chain = chain_of(use.stage);
    const bool sums_only = memory.keeps_sums && use.accumulates;
    size_t boundary = chain.size();  // the outermost loop whose iteration fits
    while (boundary > 0 && fits_in(chain[boundary - 1], memory, sums_only, fits)) --boundary;
    if (lives_within(use.buffer, chain, boundary)) return 0;
    double trips = 1;
    bool comes_back = false;
    for (size_t k = 0; k < boundary; ++k) {
      trips *= trips_of(tree_, chain[k].loop);
      comes_back |= chain[k].stage == use.stage && tree_.var(chain[k].loop).extent > 1 &&
                    tree_.var(chain[k].loop).kind == IterKind::Reduce;
    }
    const Point outside = boundary == 0 ? Point{} : chain[boundary - 1];
    const double times = use.accumulates && comes_back ? 2 : 1;
    return times * trips * region_bytes(use, outside, memory.granule);
  }

  bool fits_in(Point point, const MemoryLevel& memory, bool sums_only, Fits& fits) const {
    const auto [found, added] = fits.emplace(std::pair(point.loop, sums_only), false);
    if (added) {
      const double bytes = footprint(point, memory.granule, sums_only);
      found->second = bytes <= static_cast<double>(memory.capacity);
    }
    return found->second;
  }

  // True if the buffer is allocated and used within one iteration of the boundary.
  bool lives_within(BufferIndex index, const std::vector<Point>& chain, size_t boundary) const {
    const Stage& writer = tree_.stage(tree_.buffer(index).stage);
    if (writer.place != Attachment::At || tree_.buffer(index).is_argument) return false;
    for (size_t k = boundary; k < chain.size(); ++k) {
      if (chain[k].loop == writer.at_loop) return true;
    }
    return false;
  }

  const LoopTree& tree_;
  Calls calls_;
  std::vector<Use> uses_;
  Traffic traffic_;
};

}  // namespace

std::vector<MemoryLevel> memory_levels(const Target& target, const Machine& machine) {
  std::vector<MemoryLevel> levels;
  levels.push_back({.name = "registers",
                    .capacity = int64_t{target.vector_registers()} * target.vector_bytes(),
                    .keeps_sums = true});
  for (int level = 1; level <= 3 && target.runs_on_cpu(); ++level) {
    const int64_t bytes = machine.cache_bytes(level);
    if (bytes == 0) continue;
    const bool shared = level == 3 || (machine.cores > 0 && target.threads() > machine.cores);
    const int64_t share = level == 3 ? target.threads() : 2;
    levels.push_back({.name = "L" + std::to_string(level),
                      .capacity = shared ? bytes / std::max<int64_t>(1, share) : bytes,
                      .holds = bytes,
                      .granule = kLineBytes});
  }
  for (size_t k = 0; k < levels.size(); ++k) {
    levels[k].beyond = k + 1 < levels.size() ? levels[k + 1].name : "memory";
  }
  return levels;
}

Traffic estimate_traffic(const LoopTree& tree, std::vector<MemoryLevel> levels, Calls calls) {
  return Estimator(tree, std::move(levels), calls).run();
}

}  // namespace tilewright::feature
