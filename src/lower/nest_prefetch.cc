#include "lower/nest_prefetch.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/rounding.h"
#include "schedule/region.h"

namespace tilewright::lower {

using ir::Expr;
using ir::Stmt;

namespace {

Stmt lines_of(const schedule::PrefetchRequest& request, std::span<const schedule::RegionDim> dims,
              NestValues& values) {
  constexpr int64_t kLineBytes = 64;
  const int64_t line = kLineBytes / ir::bytes_of(values.tree().buffer(request.buffer).element);
  std::vector<Expr> indices;
  std::vector<std::pair<Expr, int64_t>> loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    arith::Affine base = dims[d].base;
    base.constant += base.coefficient_of(static_cast<uint32_t>(request.loop)) * request.distance;
    Expr index = values.affine_expr(base);
    const int64_t step = d + 1 == dims.size() ? std::max(line, dims[d].stride) : dims[d].stride;
    if (const int64_t count = ceil_div(dims[d].extent, step); count > 1) {
      const Expr at = values.new_variable("ahead", count);
      loops.emplace_back(at, count);
      index = index + at * step;
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

}  // namespace

Stmt prefetch_statement(const schedule::PrefetchRequest& request, NestValues& values) {
  const schedule::LoopTree& live = values.live();
  std::vector<Stmt> stmts;
  for (const schedule::Access& access : live.reads_of(live.stage(request.stage))) {
    if (access.buffer != request.buffer) continue;
    std::array<schedule::RegionDim, schedule::kMaxRank> dims;
    schedule::region_of(live, access, request.stage, request.loop, dims.data());
    const auto known = [](const schedule::RegionDim& dim) { return !dim.whole; };
    if (!std::all_of(dims.begin(), dims.begin() + access.rank, known)) continue;
    stmts.push_back(lines_of(request, std::span(dims.data(), access.rank), values));
  }
  return ir::make_block(std::move(stmts));
}

}  // namespace tilewright::lower
