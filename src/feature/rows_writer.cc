#include "feature/rows_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "feature/rows_caches.h"
#include "feature/rows_kernel.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

void RowWriter::write(const Weighted& weighted, const Nest& nest, const TouchFinder& touches,
                      const DagArithmetic::Statement& arithmetic, std::span<float> row) {
  state_.begin(weighted, nest, touches, row);
  write_arithmetic(arithmetic);
  write_annotation(Annotation::Vectorize, column::Vectorize);
  write_annotation(Annotation::Unroll, column::Unroll);
  write_annotation(Annotation::Parallel, column::Parallel);  // bound loops have their own columns
  write_bound();
  write_accesses();
  write_curve(arithmetic);
  write_buffer();
  write_types();
  write_kernel(state_, weighted);
  write_caches(state_, weighted, arithmetic);
  state_.set(column::Statements, state_.program.statements);
  state_.set(column::ParallelRegions, state_.program.parallel_regions);
  state_.set(column::WorkspaceBytes, state_.program.workspace_bytes);
}

void RowWriter::write_arithmetic(const DagArithmetic::Statement& arithmetic) {
  if (state_.statement.kind == StatementKind::Init) return;
  for (size_t k = 0; k < arithmetic.counts.size(); ++k) {
    state_.set(column::Arithmetic + k, arithmetic.counts[k] * state_.statement.iterations);
  }
}

void RowWriter::write_annotation(Annotation annotation, size_t column) {
  int loops = 0;
  double product = 1;
  bool spatial = false;
  bool reduce = false;
  size_t innermost = 0;
  size_t outermost = 0;
  for (size_t k = 0; k < state_.nest->size(); ++k) {
    const NestLoop& level = state_.nest->levels[k];
    if (level.annotation != annotation) continue;
    if (loops++ == 0) outermost = k;
    innermost = k;
    product *= static_cast<double>(level.extent);
    (level.kind == IterKind::Spatial ? spatial : reduce) = true;
  }
  size_t position = position::None;
  if (loops > 0) {
    state_.set(column, loops);
    state_.set(column + 1, product);
    state_.set(column + 2, static_cast<double>(state_.nest->levels[innermost].extent));
    position = spatial && reduce
                   ? position::Mixed
                   : position_of(annotation == Annotation::Parallel ? outermost : innermost);
  }
  state_.set_flag(column + 3 + position, true);
}

// Its position among the loops of its kind. A single loop is the innermost.
size_t RowWriter::position_of(size_t at) const {
  const IterKind kind = state_.nest->levels[at].kind;
  bool outside = false;
  bool inside = false;
  for (size_t k = 0; k < state_.nest->size(); ++k) {
    if (state_.nest->levels[k].kind != kind) continue;
    outside |= k < at;
    inside |= k > at;
  }
  const size_t first =
      kind == IterKind::Spatial ? size_t{position::InnerSpatial} : size_t{position::InnerReduce};
  if (!inside) return first;
  return outside ? first + 1 : first + 2;
}

void RowWriter::write_bound() {
  for (const NestLoop& level : state_.nest->levels) {
    if (level.bound == ThreadAxis::None) continue;
    state_.set_flag(column::IsGpu, true);
    const size_t at = column::IsGpu + static_cast<size_t>(level.bound);
    state_.set(at, std::max(1.0F, state_.row[at]) * static_cast<double>(level.extent));
  }
}

// Cache lines in loop order: as long as all accesses are in one line, no loop loads another. The
// innermost loop that leaves the line loads each line once per execution; outer loops load them all
// again.
double RowWriter::accessed_lines(const Touch& touch) const {
  size_t level = state_.nest->size();
  while (level > 0 && touch.lines[level] <= 1) --level;
  return std::max(1.0,
                  touch.lines[level] * state_.nest->outer(level) * touch.density * touch.accesses);
}

void RowWriter::write_accesses() {
  struct Ranked {
    const Touch* touch = nullptr;
    double lines = 0;
    double bytes = 0;
  };
  Ranked best[kRowAccesses];  // NOLINT
  size_t count = 0;
  for (size_t t = 0; t < state_.touches->size(); ++t) {
    const Touch& touch = (*state_.touches)[t];
    const Ranked ranked{.touch = &touch,
                        .lines = accessed_lines(touch),
                        .bytes = touch.density * touch.accesses * touch.element_bytes};
    size_t at = count;
    while (at > 0 && (best[at - 1].lines < ranked.lines ||
                      (best[at - 1].lines == ranked.lines && best[at - 1].bytes < ranked.bytes))) {
      if (at < kRowAccesses) best[at] = best[at - 1];
      --at;
    }
    if (at < kRowAccesses) best[at] = ranked;
    count = std::min(count + 1, kRowAccesses);
  }
  for (size_t k = 0; k < count; ++k) {
    write_access(*best[k].touch, best[k].lines, column::Accesses + k * access_column::Count);
  }
}

void RowWriter::write_access(const Touch& touch, double lines, size_t at) {
  namespace c = access_column;
  const double bytes =
      state_.nest->iterations() * touch.element_bytes * touch.accesses * touch.density;
  state_.set_flag(at + c::IsRead, touch.reads && !touch.writes);
  state_.set_flag(at + c::IsWrite, touch.writes && !touch.reads);
  state_.set_flag(at + c::IsReadWrite, touch.reads && touch.writes);
  state_.set(at + c::Bytes, bytes);
  state_.set(at + c::UniqueBytes, touch.bytes(0));
  state_.set(at + c::Lines, lines);
  state_.set(at + c::UniqueLines, touch.lines[0]);

  const size_t levels = state_.nest->size();
  const uint64_t all = levels == kMaxLevels ? ~uint64_t{0} : (uint64_t{1} << levels) - 1;
  const uint64_t still = all & ~touch.moved;
  const Buffer& buffer = state_.tree.buffer(touch.buffer);
  const bool own_value =
      state_.tree.stage(buffer.stage).kind != StageKind::Input && !buffer.is_argument;
  double count = 0;
  if (still != 0) {  // the innermost loop that does not change the address
    const auto level = static_cast<size_t>(std::bit_width(still)) - 1;
    count = state_.nest->levels[level].trips;
    state_.set_flag(at + c::ReuseInLoop, true);
    state_.set(at + c::ReuseIterations, state_.nest->inner[level + 1]);
    state_.set(at + c::ReuseBytes, state_.bytes[level + 1]);
  } else if (touch.accesses > 1 || own_value) {
    const size_t level = touch.accesses > 1 ? levels : touch.place;
    count = touch.accesses > 1 ? touch.accesses - 1 : 1;
    state_.set_flag(at + c::ReuseInSequence, true);
    state_.set(at + c::ReuseIterations, state_.nest->inner[level]);
    state_.set(at + c::ReuseBytes, state_.bytes[level]);
  } else {
    state_.set_flag(at + c::ReuseNone, true);
  }
  const double each = count > 0 ? 1 / count : 2;
  state_.set(at + c::ReuseCount, count);
  state_.set(at + c::BytesPerReuse, bytes * each);
  state_.set(at + c::UniqueBytesPerReuse, touch.bytes(0) * each);
  state_.set(at + c::LinesPerReuse, lines * each);
  state_.set(at + c::UniqueLinesPerReuse, touch.lines[0] * each);
  if (levels > 0) state_.set(at + c::Stride, static_cast<double>(std::abs(touch.flat[levels - 1])));
  state_.set_flag(at + c::Packed, touch.packed);
  if (state_.vector >= 0) {
    const auto level = static_cast<size_t>(state_.vector);
    const int64_t extent = state_.nest->levels[level].extent;
    const int64_t run = state_.tensorized ? extent : std::min(touch.run[level], extent);
    const bool still_there = !touch.is_moved_by(level);
    state_.set(at + c::ContiguousLanes, still_there ? 0
                                        : state_.is_contiguous(touch, level)
                                            ? static_cast<double>(run)
                                            : 1);
  }
  state_.set(at + c::Prefetched, static_cast<double>(touch.prefetched));
  state_.set(at + c::Density, touch.density);
}

// From one iteration to all: operations and touched bytes inside each level.
void RowWriter::write_curve(const DagArithmetic::Statement& arithmetic) {
  double each = 0;
  for (size_t k = 0; k < sort::Bools; ++k) {
    const bool is_mad = k == sort::FloatMad || k == sort::IntMad;
    each += arithmetic.counts[k] * (is_mad ? 2 : 1);
  }
  if (each == 0 || state_.statement.kind == StatementKind::Init) return;
  const auto intensity = [&](size_t level) {
    return each * state_.nest->inner[level] / std::max(1.0, state_.bytes[level]);
  };
  size_t level = state_.nest->size();
  double above = intensity(level);  // at the level ...
  double below = above;             // ... and at the next one inwards
  const double step = state_.nest->inner[0] / static_cast<double>(kCurvePoints);
  for (size_t point = 0; point < kCurvePoints; ++point) {
    const double wanted = step * static_cast<double>(point + 1);
    while (level > 0 && state_.nest->inner[level] < wanted) {
      below = std::exchange(above, intensity(--level));
    }
    double along = 1;
    if (level < state_.nest->size()) {
      const double low = state_.nest->inner[level + 1];
      along = std::clamp((wanted - low) / (state_.nest->inner[level] - low), 0.0, 1.0);
    }
    state_.set(column::Curve + point, below + along * (above - below));
  }
}

void RowWriter::write_buffer() {
  const Touch& touch = (*state_.touches)[0];  // the written one
  const Buffer& buffer = state_.tree.buffer(touch.buffer);
  double size = buffer.is_argument ? 0 : ir::bytes_of(buffer.element);
  for (const int64_t extent : buffer.extent) size *= static_cast<double>(extent);
  const double outer = state_.nest->outer(touch.place);
  state_.set(column::BufferBytes, size);
  state_.set(column::BufferBytesTimesOuter, size * outer);
  state_.set(column::BufferOuter, outer);
  state_.set(column::BufferInner, state_.nest->inner[touch.place]);
  state_.set(column::Iterations, state_.statement.iterations);
  state_.set(column::Loops, static_cast<double>(state_.nest->size()));
}

void RowWriter::write_types() {
  const Buffer& buffer = state_.tree.buffer(state_.stage->first_buffer);
  state_.set(column::ElementBytes, ir::bytes_of(buffer.element));
  state_.set_flag(column::IsFloat, ir::is_float(buffer.element));
  state_.set(column::AccumulatorBytes, computed_bytes(state_.tree, state_.statement));
  state_.set(column::VectorBytes, state_.target.vector_bytes);
  state_.set(column::Registers, state_.target.registers);
  state_.set(column::Threads, state_.target.threads);
  for (size_t k = 0; k < kMemoryLevels; ++k) {
    state_.set(column::CacheBytes + k, static_cast<double>(state_.target.capacity[k]));
  }
  state_.set(column::LineBytes, static_cast<double>(state_.target.line_bytes));
}

}  // namespace tilewright::feature
