// A convolution of 3x3 and stride 1 by Winograd's algorithm, channels last.
//
//   conv_winograd(x, w; pad=0)
//     x[n, h, w, ci] w[m+2, m+2, ci, co] -> y[n, h + 2 pad - 2, w + 2 pad - 2, co], the Dag of te's
//     conv2d_winograd with tiles of m x m outputs, m = 2 or 4; w is the transformed kernel from the
//     pass winograd (graph/passes/winograd.h)
#include "te/ops/winograd.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

DagResult build_conv_winograd(const OpDef& op, const Attributes& attributes,
                              OperandTypes operands) {
  const TensorType &x = *operands[0], &w = *operands[1];
  Reader read(op, attributes);
  const int64_t pad = read.integer("pad", 0, 0, te::kMaxParameter);
  TRY(read.status());
  const bool fits = x.shape.size() == 4 && w.shape.size() == 4 && w.shape[0] == w.shape[1] &&
                    (w.shape[0] == 4 || w.shape[0] == 6) && w.shape[2] == x.shape[3] &&
                    x.element == w.element;
  if (!fits) {
    return bad(op, fmt::format("w is {} for x of {}; wanted are x[n,h,w,ci] and w[6,6,ci,co] or "
                               "w[4,4,ci,co]",
                               w.to_string(), x.to_string()));
  }
  const int64_t m = w.shape[0] - 2;
  const int64_t rows = x.shape[1] + 2 * pad - 2, columns = x.shape[2] + 2 * pad - 2;
  if (rows < 1 || columns < 1) {
    return bad(op,
               fmt::format("a kernel of 3x3 does not fit into {} with pad={}", x.to_string(), pad));
  }
  const Shape tiles = {m + 2,
                       m + 2,
                       x.shape[0],
                       ceil_div(rows, m),
                       ceil_div(columns, m),
                       std::max(x.shape[3], w.shape[3])};
  TRY(require_result(op, tiles));
  return te::conv2d_winograd({.n = x.shape[0],
                              .h = x.shape[1],
                              .w = x.shape[2],
                              .ci = x.shape[3],
                              .co = w.shape[3],
                              .pad = pad,
                              .m = m,
                              .transformed = true,
                              .element = x.element});
}

constexpr OpDef kOps[] = {
    {"conv_winograd", Work::Heavy, 2, 2, build_conv_winograd, true},
};

}  // namespace

std::span<const OpDef> winograd_ops() { return kOps; }

}  // namespace tilewright::graph
