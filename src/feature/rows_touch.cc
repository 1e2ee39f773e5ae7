#include "feature/rows_touch.h"

#include <bit>
#include <cstdlib>
#include <numeric>

#include "base/rounding.h"
#include "schedule/next_tile.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// The greatest common divisor, usually without a division.
int64_t common_stride(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (a == 0 || a == b) return b;
  if (a == 1 || b == 1) return 1;
  return std::gcd(a, b);
}

// The number of iterations of its loop after which a prefetched element is read; 0: never.
int64_t iterations_ahead(const LoopTree& tree, const PrefetchRequest& request,
                         const Access& access) {
  if (request.distance > 0) return request.distance;
  const std::optional<NextTile> tile = next_tile(tree, request, access);
  return tile ? tile->iterations(tree) : 0;
}

}  // namespace

TouchFinder::TouchFinder(int64_t line_bytes)
    : line_bytes_(line_bytes),
      line_shift_(static_cast<int>(std::bit_width(static_cast<uint64_t>(line_bytes))) - 1) {}

void TouchFinder::begin(const LoopTree& tree) {
  tree_ = &tree;
  digits_.begin(tree);
}

void TouchFinder::find(const Statement& statement, const Nest& nest, const NestFinder& nests) {
  nest_ = &nest;
  nests_ = &nests;
  size_ = 0;
  add_writes(statement);
  if (statement.kind != StatementKind::Init) add_reads(tree_->stage(statement.stage));
}

Touch& TouchFinder::add_touch(BufferIndex index) {
  if (size_ == touches_.size()) touches_.emplace_back();
  Touch& touch = touches_[size_++];
  const Buffer& buffer = tree_->buffer(index);
  touch.buffer = index;
  touch.reads = touch.writes = false;
  touch.packed = buffer.packed_for != kNone;
  touch.element_bytes = ir::bytes_of(buffer.element);
  touch.accesses = 1;
  touch.density = 1;
  touch.prefetched = 0;
  const Stage& writer = tree_->stage(buffer.stage);
  touch.place = writer.place == Attachment::At
                    ? nests_->levels_outside(*nest_, writer.at_stage, writer.at_loop)
                    : 0;
  place_ = touch.place;
  rank_ = buffer.rank;
  move_count_ = 0;
  int64_t stride = 1;
  for (size_t d = rank_; d-- > 0;) {
    dims_[d] = {.limit = std::max<int64_t>(1, buffer.extent[d])};
    row_stride_[d] = stride;
    stride *= std::max<int64_t>(1, buffer.storage_shape()[d]);
  }
  return touch;
}

void TouchFinder::add_writes(const Statement& statement) {
  const Stage& stage = tree_->stage(statement.stage);
  const te::Op& op = tree_->dag->op(stage.op);
  for (size_t k = 0; k < stage.buffers; ++k) {
    Touch& touch = add_touch(static_cast<BufferIndex>(static_cast<size_t>(stage.first_buffer) + k));
    touch.writes = true;
    touch.reads = statement.kind == StatementKind::Update;
    if (touch.reads || statement.kind == StatementKind::Init) {
      touch.element_bytes = ir::bytes_of(op.reduction->identity[k].type().scalar);
    }
    for (size_t d = 0; d < rank_; ++d) add_axis(stage.dims[d], 1, d);
    measure(&touch);
  }
}

void TouchFinder::add_reads(const Stage& stage) {
  const std::span<const Access> reads = tree_->reads_of(stage);
  for (size_t k = 0; k < reads.size(); ++k) {
    const Access& access = reads[k];
    const auto like_this = [&](const Access& other) { return differs_in_constants(access, other); };
    if (std::any_of(reads.begin(), reads.begin() + static_cast<ptrdiff_t>(k), like_this)) continue;
    Touch& touch = add_touch(access.buffer);
    touch.reads = true;
    if (access.guarded) touch.density = guard_density(*tree_, access);
    for (size_t d = 0; d < access.rank; ++d) add_index(access, d);
    for (size_t other = k + 1; other < reads.size(); ++other) {
      if (!like_this(reads[other])) continue;
      ++touch.accesses;
      for (size_t d = 0; d < access.rank; ++d) {
        const int64_t apart = std::abs(tree_->dims[reads[other].first_dim + d].index.constant -
                                       tree_->dims[access.first_dim + d].index.constant);
        if (apart == 0) continue;
        dims_[d].reach = std::max(dims_[d].reach, apart);
        dims_[d].stride = common_stride(dims_[d].stride, apart);
        dims_[d].combinations += 1;
      }
    }
    for (const PrefetchRequest& request : tree_->prefetches) {
      if (request.stage == access.stage && request.buffer == access.buffer) {
        touch.prefetched = iterations_ahead(*tree_, request, access);
      }
    }
    measure(&touch);
  }
}

// True if the reads access the same buffer with the same strides, some elements apart.
bool TouchFinder::differs_in_constants(const Access& a, const Access& b) const {
  if (a.buffer != b.buffer || a.rank != b.rank) return false;
  for (size_t d = 0; d < a.rank; ++d) {
    const AccessDim& x = tree_->dims[a.first_dim + d];
    const AccessDim& y = tree_->dims[b.first_dim + d];
    if (!x.affine || !y.affine || !(x.index.terms == y.index.terms)) return false;
  }
  return true;
}

void TouchFinder::add_index(const Access& access, size_t dim) {
  const AccessDim& index = tree_->dims[access.first_dim + dim];
  if (index.affine) {
    for (const arith::Term& term : tree_->forms[access.first_dim + dim].terms) {
      add_terminal(static_cast<VarIndex>(term.var), std::abs(term.coefficient), dim);
    }
  } else if (index.quasi_affine) {
    add_quasi_affine(tree_->stage(access.stage), index.index, dim);
  } else {
    add_irregular(dim);
  }
}

// An unknown index: each iteration accesses another element.
void TouchFinder::add_irregular(size_t dim) {
  dims_[dim].reach = dims_[dim].limit - 1;
  dims_[dim].stride = 1;
  for (size_t k = std::max(place_, nest_->own); k < nest_->size(); ++k) {
    add_move(static_cast<int>(k), dim, {.after = nest_->levels[k].extent});
  }
}

void TouchFinder::add_quasi_affine(const Stage& stage, const arith::Affine& index, size_t dim) {
  const auto add_number = [&](size_t axis, const Scale& scale) {
    const bool attached = stage.place == Attachment::At && axis < stage.origin.size() &&
                          tree_->var(stage.axes[axis]).kind == IterKind::Spatial;
    if (attached) {
      for (const arith::Term& term : stage.origin[axis].terms) {
        Scale outer = scale;
        outer.coefficient *= std::abs(term.coefficient);
        add_scaled(static_cast<VarIndex>(term.var), outer, dim);
      }
    }
    add_scaled(stage.axes[axis], scale, dim);
  };
  for (const arith::Term& term : index.terms) {
    const int64_t weight = std::abs(term.coefficient);
    if (term.var < te::kFirstQuotient) {
      add_number(term.var, {.coefficient = weight});
      continue;
    }
    const te::Quotient& quotient = tree_->quotients[term.var - te::kFirstQuotient];
    for (const arith::Term& inner : quotient.of.terms) {
      if (inner.var >= te::kFirstQuotient) continue;
      add_number(inner.var, {.coefficient = weight * std::abs(inner.coefficient),
                             .divisor = quotient.divisor,
                             .modulus = weight * quotient.modulus});
    }
  }
}

// An axis or a part of one: all the loops that it is computed from.
void TouchFinder::add_axis(VarIndex index, int64_t coefficient, size_t dim) {
  const LoopVar& var = tree_->var(index);
  if (!var.is_split()) return add_terminal(index, coefficient, dim);
  for (int k = 0; k < var.parts; ++k) {
    const auto part = static_cast<VarIndex>(var.first_part + k);
    const LoopVar& inner = tree_->var(part);
    if (inner.extent > 1) add_axis(part, coefficient * inner.stride, dim);
  }
}

void TouchFinder::add_terminal(VarIndex index, int64_t coefficient, size_t dim) {
  const LoopVar& var = tree_->var(index);
  if (var.extent == 1) return;
  if (var.fused_into != kNone) return add_fused(var, coefficient, dim);
  const int level = nests_->level_of(index);
  if (level < static_cast<int>(place_)) return;
  add_move(level, dim, {.coefficient = coefficient, .after = var.extent});
}

// coefficient * var / divisor mod modulus
void TouchFinder::add_scaled(VarIndex index, const Scale& scale, size_t dim) {
  const LoopVar& var = tree_->var(index);
  if (var.extent == 1) return;
  if (var.is_split()) {
    for (int k = 0; k < var.parts; ++k) {
      const auto part = static_cast<VarIndex>(var.first_part + k);
      const LoopVar& inner = tree_->var(part);
      if (inner.extent == 1) continue;  // the weight may not fit
      Scale scaled = scale;
      scaled.coefficient *= inner.stride;
      add_scaled(part, scaled, dim);
    }
    return;
  }
  if (var.fused_into != kNone) {
    return add_fused(var, std::max<int64_t>(1, scale.coefficient / scale.divisor), dim);
  }
  const int level = nests_->level_of(index);
  if (level < static_cast<int>(place_)) return;
  Move move{.coefficient = scale.coefficient, .after = var.extent};
  if (scale.coefficient % scale.divisor == 0) {
    move.coefficient /= scale.divisor;
  } else {
    move.coefficient = 1;
    move.after = 1 + scale.coefficient * (var.extent - 1) / scale.divisor;
    move.divisor = ceil_div(scale.divisor, scale.coefficient);
  }
  if (scale.modulus > 0) {
    move.after = std::min(move.after, ceil_div(scale.modulus, move.coefficient));
  }
  add_move(level, dim, move);
}

// A fused variable: its value is fusion / divisor mod extent. If the fusion was split, each part
// steps through as many values as it has iterations.
void TouchFinder::add_fused(const LoopVar& var, int64_t coefficient, size_t dim) {
  int64_t divisor = var.divisor;
  VarIndex index = var.fused_into;
  while (tree_->var(index).fused_into != kNone) {
    divisor *= tree_->var(index).divisor;
    index = tree_->var(index).fused_into;
  }
  const LoopVar& fusion = tree_->var(index);
  const auto add = [&](int level, int64_t before, int64_t through) {
    const int64_t after = std::min(var.extent, ceil_div(through, divisor));
    if (level < static_cast<int>(place_) || after <= before) return before;
    add_move(level, dim,
             {.coefficient = coefficient, .before = before, .after = after, .divisor = divisor});
    return after;
  };
  if (!fusion.is_split()) {
    add(nests_->level_of(index), 1, fusion.extent);
    return;
  }
  int64_t before = 1;
  int64_t through = 1;
  for (int k = fusion.parts - 1; k >= 0; --k) {
    auto part = static_cast<VarIndex>(fusion.first_part + k);
    through *= tree_->var(part).extent;
    while (!tree_->var(part).is_loop()) {
      const LoopVar& inner = tree_->var(part);
      part = inner.fused_into != kNone ? inner.fused_into : inner.first_part;
    }
    before = add(nests_->level_of(part), before, through);
  }
}

// In descending order of level; only the order changes.
void TouchFinder::add_move(int level, size_t dim, const Move& move) {
  if (move_count_ == kMaxMoves) return;
  size_t at = move_count_;
  for (; at > 0 && order_[at - 1].level < level; --at) order_[at] = order_[at - 1];
  order_[at] = {.level = static_cast<int16_t>(level),
                .dim = static_cast<int16_t>(dim),
                .move = static_cast<int32_t>(move_count_)};
  moves_[move_count_++] = move;
}

void TouchFinder::measure(Touch* touch) {
  const size_t levels = nest_->size();
  touch->moved = 0;
  for (size_t d = 0; d < rank_; ++d) {
    if (dims_[d].combinations > 1) set_count(&dims_[d]);
  }
  set_level(touch, levels);
  size_t next = 0;
  for (size_t level = levels; level-- > 0;) {
    int64_t flat = 0;
    int64_t run = 1;
    if (next == move_count_ || order_[next].level != static_cast<int>(level)) {
      touch->elements[level] = touch->elements[level + 1];
      touch->lines[level] = touch->lines[level + 1];
    } else {
      touch->moved |= uint64_t{1} << level;
      for (; next < move_count_ && order_[next].level == static_cast<int>(level); ++next) {
        const Move& move = moves_[static_cast<size_t>(order_[next].move)];
        const auto d = static_cast<size_t>(order_[next].dim);
        if (move.divisor == 1) flat += weight_of(*touch, move.coefficient, d, &run);
        dims_[d].reach += move.coefficient * (move.after - move.before);
        dims_[d].stride = common_stride(dims_[d].stride, move.coefficient);
        const auto after = static_cast<double>(move.after);
        dims_[d].combinations *=
            move.before == 1 ? after : after / static_cast<double>(move.before);
        set_count(&dims_[d]);
      }
      set_level(touch, level);
    }
    touch->flat[level] = flat;
    touch->run[level] = run;
  }
}

// The distance in memory per iteration of a loop, and the number of contiguous steps.
int64_t TouchFinder::weight_of(const Touch& touch, int64_t coefficient, size_t dim, int64_t* run) {
  if (coefficient == 0) return line_bytes_;  // unknown address
  if (!touch.packed) {
    *run = dims_[dim].limit;
    return coefficient * row_stride_[dim];
  }
  const BufferDigits::Digit* largest = nullptr;
  for (const BufferDigits::Digit& digit : digits_.of(touch.buffer)) {
    if (digit.dim != dim || digit.divisor > coefficient) continue;
    if (largest == nullptr || digit.divisor > largest->divisor) largest = &digit;
  }
  if (largest == nullptr) return coefficient;
  *run = largest->extent;
  return coefficient / largest->divisor * largest->stride;
}

// The number of distinct elements: every stride-th of the range, if there are as many combinations.
void TouchFinder::set_count(Dim* dim) {
  const int64_t dense = dim->stride <= 1 ? dim->span() : (dim->span() - 1) / dim->stride + 1;
  const bool is_dense = dim->combinations >= static_cast<double>(dense);
  dim->count = is_dense ? dense : static_cast<int64_t>(dim->combinations);
}

// Contiguous elements share cache lines; a packed buffer is contiguous as a whole.
void TouchFinder::set_level(Touch* touch, size_t level) const {
  const bool packed = touch->packed;
  int64_t elements = 1;
  int64_t run = touch->element_bytes;
  int64_t rows = 1;
  bool together = true;
  for (size_t d = rank_; d-- > 0;) {
    const Dim& dim = dims_[d];
    elements *= dim.count;
    if (!together) {
      rows *= dim.count;
    } else if (dim.stride <= 1) {
      run *= dim.span();
      together = dim.count == dim.limit;
    } else {
      const bool in_lines = dim.stride * run < line_bytes_;
      (in_lines ? run : rows) *= in_lines ? dim.span() : dim.count;
      together = false;
    }
  }
  if (packed) {
    run = elements * touch->element_bytes;
    rows = 1;
  }
  touch->elements[level] = static_cast<double>(elements);
  touch->lines[level] = static_cast<double>(rows * ((run + line_bytes_ - 1) >> line_shift_));
}

}  // namespace tilewright::feature
