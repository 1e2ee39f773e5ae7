#include "te/predicates.h"

#include <algorithm>
#include <ranges>

#include "base/saturating.h"

namespace tilewright::te {
namespace {

int64_t size_of(const std::vector<Axis>& axes) {
  return saturating_product(
      axes | std::views::transform([](const Axis& axis) { return axis.extent.high; }));
}

// The output axis of `reader` that the index is, plus a constant.
std::optional<uint32_t> output_axis(const AccessDim& dim, const Op& reader) {
  const auto axis = dim.shifted_axis();
  return axis && *axis < reader.axes.size() ? axis : std::nullopt;
}

bool reads_from(const Dag& dag, const Access& access, OpId producer) {
  return dag.tensor(access.tensor).op == producer;
}

void merge_read(ReadPattern& pattern, const Access& access, const Op& reader) {
  std::vector<int> uses(reader.axes.size());
  uint32_t previous = 0;
  for (const AccessDim& dim : access.dims) {
    if (dim.is_constant()) continue;
    const auto axis = output_axis(dim, reader);
    if (!axis) {
      pattern.simple = false;
      continue;
    }
    ++uses[*axis];
    if (*axis < previous) pattern.same_order = false;
    previous = *axis;
  }
  pattern.axis_missing |= std::ranges::count(uses, 0) > 0;
  pattern.axis_duplicated |= std::ranges::any_of(uses, [](int n) { return n > 1; });
}

bool is_elementwise(const ReadPattern& pattern) {
  return pattern.simple && !pattern.axis_missing && !pattern.axis_duplicated && pattern.same_order;
}

bool has_const_index_hint(const Op& op) {
  const auto hinted = [](const Axis& axis) { return axis.hints.simplify_const_index; };
  return std::ranges::any_of(op.axes, hinted) || std::ranges::any_of(op.reduce_axes, hinted);
}

// Every value of some longer-than-one output axis reads the same elements of `producer`.
bool reuses(const Dag& dag, OpId reader, OpId producer) {
  uint64_t used = 0;
  for (const Access& access : dag.access(reader).reads) {
    if (!reads_from(dag, access, producer)) continue;
    for (const AccessDim& dim : access.dims) used |= dim.axes;
  }
  const std::vector<Axis>& axes = dag.op(reader).axes;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].extent.high > 1 && (used >> a & 1) == 0) return true;
  }
  return false;
}

// Leading dimensions that `reader` shares with `producer` in each of its reads.
int common_axes_of_hop(const Dag& dag, OpId producer, OpId reader) {
  const Op& from = dag.op(producer);
  const Op& to = dag.op(reader);
  size_t common = std::min(from.axes.size(), to.axes.size());
  for (const Access& access : dag.access(reader).reads) {
    if (!reads_from(dag, access, producer)) continue;
    size_t n = 0;
    while (n < common && from.axes[n].extent == to.axes[n].extent &&
           access.dims[n].shifted_axis() == static_cast<uint32_t>(n)) {
      ++n;
    }
    common = n;
  }
  return static_cast<int>(common);
}

// The least number of common axes over the paths, -1 when no path leads to the target.
int min_common_axes(const Dag& dag, OpId op, OpId target, int common) {
  if (op == target) return common;
  int min_axes = -1;
  for (const OpId reader : dag.consumers(op)) {
    if (reader > target) continue;
    const int along =
        min_common_axes(dag, reader, target, std::min(common, common_axes_of_hop(dag, op, reader)));
    if (along >= 0) min_axes = min_axes < 0 ? along : std::min(min_axes, along);
  }
  return min_axes;
}

}  // namespace

ReadPattern read_pattern(const Dag& dag, OpId reader, OpId producer) {
  ReadPattern pattern;
  for (const Access& access : dag.access(reader).reads) {
    if (reads_from(dag, access, producer)) merge_read(pattern, access, dag.op(reader));
  }
  return pattern;
}

bool is_output(const Dag& dag, OpId op) { return dag.consumers(op).empty(); }

bool is_strictly_inlineable(const Dag& dag, OpId op) {
  if (dag.op(op).kind != OpKind::Compute) return false;
  const OpAccess& access = dag.access(op);
  if (access.reads.empty()) return true;
  if (access.has_branch || access.has_expensive_call) return false;
  return std::ranges::all_of(dag.producers(op), [&](OpId producer) {
    const ReadPattern pattern = read_pattern(dag, op, producer);
    return pattern.simple && pattern.same_order && !pattern.axis_duplicated;
  });
}

bool needs_multi_level_tiling(const Dag& dag, OpId op) {
  if (dag.op(op).kind != OpKind::Compute || has_const_index_hint(dag.op(op))) return false;
  const auto reused = std::ranges::count_if(
      dag.producers(op), [&](OpId producer) { return reuses(dag, op, producer); });
  return reused >= 2 || (reused >= 1 && dag.op(op).has_reduction());
}

bool is_elementwise_match(const Dag& dag, OpId op, OpId target) {
  while (op != target) {
    if (dag.consumers(op).size() != 1) return false;
    const OpId reader = dag.consumers(op)[0];
    const bool same_shape =
        std::ranges::equal(dag.op(op).axes, dag.op(reader).axes,
                           [](const Axis& a, const Axis& b) { return a.extent == b.extent; });
    if (!same_shape || !is_elementwise(read_pattern(dag, reader, op))) return false;
    op = reader;
  }
  return true;
}

int common_outer_axes(const Dag& dag, OpId op, OpId target) {
  const int rank = static_cast<int>(dag.op(op).axes.size());
  return std::max(0, min_common_axes(dag, op, target, rank));
}

bool needs_rfactor(const Dag& dag, OpId op, int cores) {
  if (dag.op(op).kind != OpKind::Compute) return false;
  const int64_t space = spatial_size(dag, op);
  const int64_t reduce = reduce_size(dag, op);
  if (needs_multi_level_tiling(dag, op)) {
    return space <= reduce && space <= int64_t{16} * cores;
  }
  return reduce > 1 && reduce > cores;
}

int64_t spatial_size(const Dag& dag, OpId op) { return size_of(dag.op(op).axes); }
int64_t reduce_size(const Dag& dag, OpId op) { return size_of(dag.op(op).reduce_axes); }

}  // namespace tilewright::te
