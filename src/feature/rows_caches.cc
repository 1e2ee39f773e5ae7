#include "feature/rows_caches.h"

#include <algorithm>

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// The traffic of feature/traffic.h, estimated from this statement alone.
void write_level(RowState& state, size_t level, const Weighted& weighted) {
  const auto line = static_cast<double>(state.target.line_bytes);
  const auto capacity = static_cast<double>(state.target.capacity[level]);
  size_t fits = 0;  // the levels from this one inwards fit
  while (fits < state.nest->size() && state.lines[fits] * line > capacity) ++fits;
  const size_t boundary = fits == 0 ? 0 : fits - 1;
  bool comes_back = false;  // an outer reduce loop revisits the accumulators
  for (size_t k = state.nest->own; k < boundary; ++k) {
    comes_back |= state.nest->levels[k].kind == IterKind::Reduce;
  }
  double traffic = 0;
  for (size_t t = 0; t < state.touches->size(); ++t) {
    const Touch& touch = (*state.touches)[t];
    if (touch.place > boundary) continue;  // allocated inside
    const double times = comes_back && touch.reads && touch.writes ? 2 : 1;
    traffic += times * touch.lines[boundary] * line;
  }
  traffic *= state.nest->outer(boundary);
  state.set(column::LevelFootprint + level, state.lines[fits] * line);
  state.set(column::LevelTraffic + level, traffic);
  state.set(column::LevelTrafficPerInstruction + level,
            traffic / std::max(1.0, weighted.instructions));
  state.set(column::LevelTrafficPerThread + level, traffic * state.thread_share);
}

void write_recompute(RowState& state, const DagArithmetic::Statement& arithmetic) {
  double computed = state.statement.iterations;
  for (size_t k = state.nest->own; k < state.nest->size(); ++k) {
    if (state.nest->levels[k].kind == IterKind::Reduce) computed /= state.nest->levels[k].trips;
  }
  const Buffer& buffer = state.tree.buffer(state.stage->first_buffer);
  const te::Tensor& tensor = state.tree.dag->tensor(buffer.tensor);
  double needed = 1;
  for (size_t d = 0; d < buffer.rank; ++d) {
    const int64_t extent = d < tensor.shape.size() ? tensor.shape[d].high
                                                   : state.tree.var(state.stage->dims[d]).extent;
    needed *= static_cast<double>(extent);
  }
  state.set(column::Recompute, computed / needed);
  if (arithmetic.min_inlined > 0) {
    state.set(column::InlinedRecompute, state.statement.iterations / arithmetic.min_inlined);
  }
}

}  // namespace

void write_caches(RowState& state, const Weighted& weighted,
                  const DagArithmetic::Statement& arithmetic) {
  for (size_t level = 0; level < kMemoryLevels; ++level) write_level(state, level, weighted);
  write_recompute(state, arithmetic);
}

}  // namespace tilewright::feature
