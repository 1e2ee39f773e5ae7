#include "feature/rows_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

void RowWriter::write(const Weighted& weighted, const Nest& nest, const TouchFinder& touches,
                      const DagArithmetic::Statement& arithmetic, std::span<float> row) {
  row_ = row;
  statement_ = weighted.statement;
  stage_ = &tree_.stage(statement_.stage);
  nest_ = &nest;
  touches_ = &touches;
  find_levels();
  write_arithmetic(arithmetic);
  write_annotation(Annotation::Vectorize, column::Vectorize);
  write_annotation(Annotation::Unroll, column::Unroll);
  write_annotation(Annotation::Parallel, column::Parallel);
  write_bound();
  write_accesses();
  write_curve(arithmetic);
  write_buffer();
  write_types();
  write_tails();
  write_threads(weighted);
  write_kernel(weighted);
  for (size_t level = 0; level < kMemoryLevels; ++level) write_level(level, weighted);
  write_recompute(arithmetic);
  set(column::Statements, program_.statements);
  set(column::ParallelRegions, program_.parallel_regions);
  set(column::WorkspaceBytes, program_.workspace_bytes);
}

void RowWriter::find_levels() {
  lanes_ = std::max(1, target_.vector_bytes / std::max(1, computed_bytes(tree_, statement_)));
  const auto is_written_out = [&](size_t k) {
    return nest_->levels[k].annotation == Annotation::Unroll ||
           nest_->levels[k].annotation == Annotation::Vectorize;
  };
  body_ = nest_->size();
  while (body_ > 0 && is_written_out(body_ - 1)) --body_;
  vector_ = -1;
  for (size_t k = nest_->size(); k-- > nest_->own && vector_ < 0;) {
    if (nest_->levels[k].annotation == Annotation::Vectorize) vector_ = static_cast<int>(k);
  }
  for (size_t k = 0; k <= nest_->size(); ++k) {
    bytes_[k] = 0;
    lines_[k] = 0;
  }
  for (size_t t = 0; t < touches_->size(); ++t) {
    const Touch& touch = (*touches_)[t];
    for (size_t k = 0; k <= nest_->size(); ++k) {
      bytes_[k] += touch.bytes(k);
      lines_[k] += touch.lines[k];
    }
  }
}

void RowWriter::write_arithmetic(const DagArithmetic::Statement& arithmetic) {
  if (statement_.kind == StatementKind::Init) return;
  for (size_t k = 0; k < arithmetic.counts.size(); ++k) {
    set(column::Arithmetic + k, arithmetic.counts[k] * statement_.iterations);
  }
}

void RowWriter::write_annotation(Annotation annotation, size_t column) {
  int loops = 0;
  double product = 1;
  bool spatial = false;
  bool reduce = false;
  size_t innermost = 0;
  size_t outermost = 0;
  for (size_t k = 0; k < nest_->size(); ++k) {
    const NestLoop& level = nest_->levels[k];
    if (level.annotation != annotation) continue;
    if (loops++ == 0) outermost = k;
    innermost = k;
    product *= static_cast<double>(level.extent);
    (level.kind == IterKind::Spatial ? spatial : reduce) = true;
  }
  size_t position = position::None;
  if (loops > 0) {
    set(column, loops);
    set(column + 1, product);
    set(column + 2, static_cast<double>(nest_->levels[innermost].extent));
    position = spatial && reduce
                   ? position::Mixed
                   : position_of(annotation == Annotation::Parallel ? outermost : innermost);
  }
  set_flag(column + 3 + position, true);
}

// Its position among the loops of its kind. A single loop is the innermost.
size_t RowWriter::position_of(size_t at) const {
  const IterKind kind = nest_->levels[at].kind;
  bool outside = false;
  bool inside = false;
  for (size_t k = 0; k < nest_->size(); ++k) {
    if (nest_->levels[k].kind != kind) continue;
    outside |= k < at;
    inside |= k > at;
  }
  const size_t first =
      kind == IterKind::Spatial ? size_t{position::InnerSpatial} : size_t{position::InnerReduce};
  if (!inside) return first;
  return outside ? first + 1 : first + 2;
}

void RowWriter::write_bound() {
  for (const NestLoop& level : nest_->levels) {
    if (level.bound == ThreadAxis::None) continue;
    set_flag(column::IsGpu, true);
    const size_t at = column::IsGpu + static_cast<size_t>(level.bound);
    set(at, std::max(1.0F, row_[at]) * static_cast<double>(level.extent));
  }
}

// Cache lines in loop order: as long as all accesses are in one line, no loop loads another. The
// innermost loop that leaves the line loads each line once per execution; outer loops load them all
// again.
double RowWriter::accessed_lines(const Touch& touch) const {
  size_t level = nest_->size();
  while (level > 0 && touch.lines[level] <= 1) --level;
  return std::max(1.0, touch.lines[level] * nest_->outer(level) * touch.density * touch.accesses);
}

void RowWriter::write_accesses() {
  struct Ranked {
    const Touch* touch = nullptr;
    double lines = 0;
    double bytes = 0;
  };
  Ranked best[kRowAccesses];  // NOLINT
  size_t count = 0;
  for (size_t t = 0; t < touches_->size(); ++t) {
    const Touch& touch = (*touches_)[t];
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
  const double bytes = nest_->iterations() * touch.element_bytes * touch.accesses * touch.density;
  set_flag(at + c::IsRead, touch.reads && !touch.writes);
  set_flag(at + c::IsWrite, touch.writes && !touch.reads);
  set_flag(at + c::IsReadWrite, touch.reads && touch.writes);
  set(at + c::Bytes, bytes);
  set(at + c::UniqueBytes, touch.bytes(0));
  set(at + c::Lines, lines);
  set(at + c::UniqueLines, touch.lines[0]);

  const size_t levels = nest_->size();
  const uint64_t all = levels == kMaxLevels ? ~uint64_t{0} : (uint64_t{1} << levels) - 1;
  const uint64_t still = all & ~touch.moved;
  const Buffer& buffer = tree_.buffer(touch.buffer);
  const bool own_value = tree_.stage(buffer.stage).kind != StageKind::Input && !buffer.is_argument;
  double count = 0;
  if (still != 0) {  // the innermost loop that does not change the address
    const auto level = static_cast<size_t>(std::bit_width(still)) - 1;
    count = nest_->levels[level].trips;
    set_flag(at + c::ReuseInLoop, true);
    set(at + c::ReuseIterations, nest_->inner[level + 1]);
    set(at + c::ReuseBytes, bytes_[level + 1]);
  } else if (touch.accesses > 1 || own_value) {
    const size_t level = touch.accesses > 1 ? levels : touch.place;
    count = touch.accesses > 1 ? touch.accesses - 1 : 1;
    set_flag(at + c::ReuseInSequence, true);
    set(at + c::ReuseIterations, nest_->inner[level]);
    set(at + c::ReuseBytes, bytes_[level]);
  } else {
    set_flag(at + c::ReuseNone, true);
  }
  const double each = count > 0 ? 1 / count : 2;
  set(at + c::ReuseCount, count);
  set(at + c::BytesPerReuse, bytes * each);
  set(at + c::UniqueBytesPerReuse, touch.bytes(0) * each);
  set(at + c::LinesPerReuse, lines * each);
  set(at + c::UniqueLinesPerReuse, touch.lines[0] * each);
  if (levels > 0) set(at + c::Stride, static_cast<double>(std::abs(touch.flat[levels - 1])));
  set_flag(at + c::Packed, touch.packed);
  if (vector_ >= 0) {
    const auto level = static_cast<size_t>(vector_);
    const int64_t step = std::abs(touch.flat[level]);
    const int64_t run = std::min(touch.run[level], nest_->levels[level].extent);
    const bool still_there = !touch.is_moved_by(level);
    set(at + c::ContiguousLanes, still_there ? 0 : step == 1 ? static_cast<double>(run) : 1);
  }
  set(at + c::Prefetched, static_cast<double>(touch.prefetched));
  set(at + c::Density, touch.density);
}

// From one iteration to all: operations and touched bytes inside each level.
void RowWriter::write_curve(const DagArithmetic::Statement& arithmetic) {
  double each = 0;
  for (size_t k = 0; k < sort::Bools; ++k) {
    const bool is_mad = k == sort::FloatMad || k == sort::IntMad;
    each += arithmetic.counts[k] * (is_mad ? 2 : 1);
  }
  if (each == 0 || statement_.kind == StatementKind::Init) return;
  const auto intensity = [&](size_t level) {
    return each * nest_->inner[level] / std::max(1.0, bytes_[level]);
  };
  size_t level = nest_->size();
  double above = intensity(level);  // at the level ...
  double below = above;             // ... and at the next one inwards
  const double step = nest_->inner[0] / static_cast<double>(kCurvePoints);
  for (size_t point = 0; point < kCurvePoints; ++point) {
    const double wanted = step * static_cast<double>(point + 1);
    while (level > 0 && nest_->inner[level] < wanted) {
      below = std::exchange(above, intensity(--level));
    }
    double along = 1;
    if (level < nest_->size()) {
      const double low = nest_->inner[level + 1];
      along = std::clamp((wanted - low) / (nest_->inner[level] - low), 0.0, 1.0);
    }
    set(column::Curve + point, below + along * (above - below));
  }
}

void RowWriter::write_buffer() {
  const Touch& touch = (*touches_)[0];  // the written one
  const Buffer& buffer = tree_.buffer(touch.buffer);
  double size = buffer.is_argument ? 0 : ir::bytes_of(buffer.element);
  for (const int64_t extent : buffer.extent) size *= static_cast<double>(extent);
  const double outer = nest_->outer(touch.place);
  set(column::BufferBytes, size);
  set(column::BufferBytesTimesOuter, size * outer);
  set(column::BufferOuter, outer);
  set(column::BufferInner, nest_->inner[touch.place]);
  set(column::Iterations, statement_.iterations);
  set(column::Loops, static_cast<double>(nest_->size()));
}

void RowWriter::write_types() {
  const Buffer& buffer = tree_.buffer(stage_->first_buffer);
  set(column::ElementBytes, ir::bytes_of(buffer.element));
  set_flag(column::IsFloat, ir::is_float(buffer.element));
  set(column::AccumulatorBytes, computed_bytes(tree_, statement_));
  set(column::VectorBytes, target_.vector_bytes);
  set(column::Registers, target_.registers);
  set(column::Threads, target_.threads);
  for (size_t k = 0; k < kMemoryLevels; ++k) {
    set(column::CacheBytes + k, static_cast<double>(target_.capacity[k]));
  }
  set(column::LineBytes, static_cast<double>(target_.line_bytes));
}

}  // namespace tilewright::feature
