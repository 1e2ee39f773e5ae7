#include "lower/nest_prefetch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "base/inline_vector.h"
#include "base/rounding.h"
#include "layout/layout.h"
#include "schedule/next_tile.h"
#include "schedule/region.h"

namespace tilewright::lower {

using ir::Expr;
using ir::Stmt;

namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kMaxUnrolled = 16;  // prefetches of one iteration

int64_t line_elements(const schedule::LoopTree& tree, schedule::BufferIndex buffer) {
  return kLineBytes / ir::bytes_of(tree.buffer(buffer).element);
}

// The lines of a region: along one dimension, a line is several elements.
struct RegionLines {
  InlineVector<int64_t, schedule::kMaxRank> counts{};
  InlineVector<int64_t, schedule::kMaxRank> steps{};  // elements from one to the next

  RegionLines(std::span<const schedule::RegionDim> dims, size_t line_dim, int64_t line) {
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t step = d == line_dim ? std::max(line, dims[d].stride) : dims[d].stride;
      steps.push_back(step);
      counts.push_back(ceil_div(dims[d].extent, step));
    }
  }
  int64_t total() const {
    int64_t product = 1;
    for (const int64_t count : counts) product *= count;
    return product;
  }
};

Stmt lines_of(const schedule::PrefetchRequest& request, std::span<const schedule::RegionDim> dims,
              NestValues& values) {
  const RegionLines lines(dims, dims.size() - 1, line_elements(values.tree(), request.buffer));
  std::vector<Expr> indices;
  std::vector<std::pair<Expr, int64_t>> loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    arith::Affine base = dims[d].base;
    base.constant += base.coefficient_of(static_cast<uint32_t>(request.loop)) * request.distance;
    Expr index = values.affine_expr(base);
    if (const int64_t count = lines.counts[d]; count > 1) {
      const Expr at = values.new_variable("ahead", count);
      loops.emplace_back(at, count);
      index = index + at * lines.steps[d];
    }
    indices.push_back(values.simplified(index));
  }
  Stmt stmt = ir::make_prefetch(static_cast<ir::BufferId>(request.buffer),
                                values.locate(request.buffer, indices));
  for (size_t k = loops.size(); k-- > 0;) {
    stmt = ir::make_for(loops[k].first, ir::int_imm(loops[k].second), ir::ForKind::Serial, stmt);
  }
  return stmt;
}

bool is_known(std::span<const schedule::RegionDim> dims) {
  return std::ranges::none_of(dims, &schedule::RegionDim::whole);
}

// The number of the current iteration of these variables together.
Expr iteration_of(const schedule::NextTile& tile, const NestValues& values) {
  Expr number = ir::int_imm(0);
  for (const schedule::VarIndex var : tile.inner) {
    const Expr value = values.local_value(var);
    number = number * values.live().var(var).extent + value;
  }
  return number;
}

// True if the region is one piece of memory: from the inside out, it covers digits of the layout
// completely, at most one in part, and has one value of each of the others.
bool is_contiguous(const layout::Layout& layout, std::span<const schedule::RegionDim> dims) {
  bool inner_covered = true;
  for (size_t k = layout.digits.size(); k-- > 0;) {
    const layout::Digit& digit = layout.digits[k];
    const schedule::RegionDim& dim = dims[digit.dim];
    const auto is_aligned = [&](int64_t divisor) {
      return dim.base.constant % divisor == 0 &&
             std::ranges::all_of(dim.base.terms, [&](const arith::Term& term) {
               return term.coefficient % divisor == 0;
             });
    };
    if (dim.extent > 1 && dim.stride != 1) return false;
    if (dim.extent <= digit.divisor) {  // one value of the digit
      if (digit.divisor % dim.extent != 0 || !is_aligned(dim.extent)) return false;
      inner_covered = inner_covered && digit.extent == 1;
      continue;
    }
    if (!inner_covered) return false;
    const int64_t period = digit.divisor * digit.extent;
    if (dim.extent % period == 0 && is_aligned(period)) continue;
    if (dim.extent % digit.divisor != 0 || !is_aligned(digit.divisor)) return false;
    inner_covered = false;
  }
  return true;
}

int64_t elements_of(std::span<const schedule::RegionDim> dims) {
  int64_t product = 1;
  for (const schedule::RegionDim& dim : dims) product *= dim.extent;
  return product;
}

// floor(number * numerator / denominator) or one more, for numbers below the denominator, without a
// division, which would cost more than the body of a small loop: in fixed point, rounded up.
Expr scaled(const Expr& number, int64_t numerator, int64_t denominator) {
  const auto one = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(denominator)));
  return number * ceil_div(numerator * one, denominator) / one;
}

Stmt share_of(const schedule::NextTile& tile, const schedule::PrefetchRequest& request,
              std::span<const schedule::RegionDim> dims, NestValues& values) {
  const schedule::LoopTree& live = values.live();
  const int64_t line_length = line_elements(live, request.buffer);
  const layout::Layout layout = schedule::layout_of(values.tree(), request.buffer);
  const size_t dense = layout.digits.back().dim;
  const RegionLines lines(dims, dense, line_length);
  const bool contiguous = is_contiguous(layout, dims);
  const int64_t total = contiguous ? ceil_div(elements_of(dims), line_length) : lines.total();
  const int64_t iterations = tile.iterations(live);
  const int64_t share = ceil_div(total, iterations);
  const Expr at = share > 1 ? values.new_variable("ahead", share) : Expr();
  Expr line = iteration_of(tile, values);
  if (at.defined()) line = line * share + at;
  if (total != iterations * share) line = scaled(line, total, iterations * share);
  std::vector<Expr> indices(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    arith::Affine base = dims[d].base;
    base.constant += base.coefficient_of(static_cast<uint32_t>(tile.selector));
    indices[d] = values.affine_expr(base);
  }
  const auto take = [&](size_t d) {
    indices[d] = indices[d] + line % lines.counts[d] * lines.steps[d];
    line = line / lines.counts[d];
  };
  if (!contiguous) {
    take(dense);
    for (size_t d = dims.size(); d-- > 0;) {
      if (d != dense) take(d);
    }
  }
  for (Expr& index : indices) index = values.simplified(index);
  std::vector<Expr> located = values.locate(request.buffer, indices);
  if (contiguous) located.back() = values.simplified(located.back() + line * line_length);
  Stmt stmt = ir::make_prefetch(static_cast<ir::BufferId>(request.buffer), std::move(located));
  if (!at.defined()) return stmt;
  const ir::ForKind kind = share <= kMaxUnrolled ? ir::ForKind::Unrolled : ir::ForKind::Serial;
  return ir::make_for(at, ir::int_imm(share), kind, std::move(stmt));
}

}  // namespace

Stmt prefetch_statement(const schedule::PrefetchRequest& request, NestValues& values) {
  const schedule::LoopTree& live = values.live();
  std::vector<Stmt> stmts;
  for (const schedule::Access& access : live.reads_of(live.stage(request.stage))) {
    if (access.buffer != request.buffer) continue;
    std::array<schedule::RegionDim, schedule::kMaxRank> all;
    const std::span<const schedule::RegionDim> dims(all.data(), access.rank);
    if (request.distance > 0) {
      schedule::region_of(live, access, request.stage, request.loop, all.data());
      if (is_known(dims)) stmts.push_back(lines_of(request, dims, values));
      continue;
    }
    const std::optional<schedule::NextTile> tile = schedule::next_tile(live, request, access);
    if (!tile) continue;
    schedule::region_of(live, access, tile->stage, tile->loop, all.data());
    stmts.push_back(share_of(*tile, request, dims, values));
  }
  return ir::make_block(std::move(stmts));
}

}  // namespace tilewright::lower
