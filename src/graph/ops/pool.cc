// pool(x; kind=max|average|lp, p=2, kernel, stride=1, dilation=1, pad_begin=0, pad_end=0,
//      count_include_pad=0, ceil_pad=0, channels_last=0)
//
// Windows over one to three spatial dimensions; lists have one number for each.
//   channels_last=0   x[n, c, s..] -> y[n, c, s..]
//   channels_last=1   x[n, s.., c] -> y[n, s.., c], the Dag of te's pool
// ceil_pad is the part of pad_end that comes from rounding the number of windows up: an average
// never counts it, even with count_include_pad.
#include "te/ops/pool.h"

#include <fmt/format.h>

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

DagResult build_pool(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  constexpr std::string_view kKinds[] = {"max", "average", "lp"};
  const TensorType& x = *operands[0];
  if (x.shape.size() < 3 || x.shape.size() > 5) {
    return unsupported(
        op, fmt::format("x is {}; one to three spatial dimensions are supported", x.to_string()));
  }
  const size_t rank = x.shape.size() - 2;
  Reader read(op, attributes);
  const auto kind = static_cast<te::PoolKind>(read.choice("kind", "max", kKinds));
  const bool channels_last = read.flag("channels_last");
  const auto first = x.shape.begin() + (channels_last ? 1 : 2);
  const te::PoolShape shape{.kind = kind,
                            .n = x.shape[0],
                            .spatial = {first, first + static_cast<int64_t>(rank)},
                            .c = channels_last ? x.shape.back() : x.shape[1],
                            .element = x.element,
                            .channels_first = !channels_last,
                            .p = read.integer("p", 2, 1, 64)};
  te::PoolWindow window{.kernel = read.list("kernel", rank, 1, te::kMaxParameter),
                        .stride = read.list("stride", rank, 1, te::kMaxParameter, 1),
                        .pad = read.list("pad_begin", rank, 0, te::kMaxParameter, 0),
                        .count_include_pad = read.flag("count_include_pad"),
                        .pad_end = read.list("pad_end", rank, 0, te::kMaxParameter, 0),
                        .dilation = read.list("dilation", rank, 1, te::kMaxParameter, 1),
                        .uncounted = read.list("ceil_pad", rank, 0, te::kMaxParameter, 0)};
  TRY(read.status());
  Shape bordered = x.shape;
  bool ceil = false;
  for (size_t d = 0; d < rank; ++d) {
    bordered[d + (channels_last ? 1 : 2)] += window.pad[d] + window.pad_end[d];
    if (window.uncounted[d] > window.pad_end[d]) {
      return bad(op, fmt::format("ceil_pad={} is more than pad_end={}",
                                 shape_text(window.uncounted), shape_text(window.pad_end)));
    }
    ceil = ceil || window.uncounted[d] > 0;
  }
  if (!ceil) window.uncounted.clear();
  TRY(require_result(op, bordered));
  return te::pool(shape, window);
}

constexpr OpDef kOps[] = {{"pool", Work::Rows, 1, 1, build_pool}};

}  // namespace

std::span<const OpDef> pool_ops() { return kOps; }

}  // namespace tilewright::graph
