#include "lower/nest_prefetch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/inline_vector.h"
#include "base/rounding.h"
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

// The dimension along which neighboring elements of the buffer are neighbors in memory.
size_t dense_dim(const schedule::LoopTree& tree, schedule::BufferIndex buffer) {
  return schedule::layout_of(tree, buffer).digits.back().dim;
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

Stmt share_of(const schedule::NextTile& tile, const schedule::PrefetchRequest& request,
              std::span<const schedule::RegionDim> dims, NestValues& values) {
  const schedule::LoopTree& live = values.live();
  const RegionLines lines(dims, dense_dim(values.tree(), request.buffer),
                          line_elements(live, request.buffer));
  const int64_t total = lines.total();
  const int64_t iterations = tile.iterations(live);
  const int64_t share = ceil_div(total, iterations);
  const Expr at = share > 1 ? values.new_variable("ahead", share) : Expr();
  Expr line = iteration_of(tile, values);
  if (at.defined()) line = line * share + at;
  if (total != iterations * share) line = line * total / (iterations * share);
  std::vector<Expr> indices(dims.size());
  const size_t dense = dense_dim(values.tree(), request.buffer);
  const auto take = [&](size_t d) {
    arith::Affine base = dims[d].base;
    base.constant += base.coefficient_of(static_cast<uint32_t>(tile.selector));
    indices[d] =
        values.simplified(values.affine_expr(base) + line % lines.counts[d] * lines.steps[d]);
    line = line / lines.counts[d];
  };
  take(dense);
  for (size_t d = dims.size(); d-- > 0;) {
    if (d != dense) take(d);
  }
  const Stmt stmt = ir::make_prefetch(static_cast<ir::BufferId>(request.buffer),
                                      values.locate(request.buffer, indices));
  if (!at.defined()) return stmt;
  const ir::ForKind kind = share <= kMaxUnrolled ? ir::ForKind::Unrolled : ir::ForKind::Serial;
  return ir::make_for(at, ir::int_imm(share), kind, stmt);
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
