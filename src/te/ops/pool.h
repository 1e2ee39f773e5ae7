// Pooling over 1, 2 or 3 spatial dimensions, channels last; op is max or average.
//
//   pool:op=max,spatial=14x14,c=64,kernel=3,stride=2,pad=1   X[n, 14, 14, c] -> Y[n, 7, 7, c]
//   global_pool:op=average,spatial=7x7,c=64                  X[n, 7, 7, c]   -> Y[n, c]
//   adaptive_pool:op=average,spatial=7x9,to=3x3,c=64         X[n, 7, 9, c]   -> Y[n, 3, 3, c]
//
// A pool has (extent + 2 pad - kernel) / stride + 1 windows along a dimension; adaptive window y of
// `to` covers [floor(y extent / to), ceil((y + 1) extent / to)), e.g. 7 to 3: [0,3) [2,5) [4,7).
// Lp, which only graphs use, is the p-th root of the sum of |x|^p.
//
// Axes: n, then x, or y x, or z y x, then c; reduce rx, or ry rx, or rz ry rx. Stages: with pad > 0
// `P`, X padded with the lowest value (max) or zeros; max: `Y`; average, for floats only: `S`, the
// sum, then `Y` = S / (elements of the window): those of the kernel with count_include_pad=1, else
// those within X.
#pragma once

#include <memory>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

enum class PoolKind : uint8_t { Max, Average, Lp };

struct PoolShape {
  PoolKind kind = PoolKind::Max;
  int64_t n = 1;
  std::vector<int64_t> spatial;  // extents, outermost first
  int64_t c = 1;
  ir::Scalar element = ir::Scalar::F32;
  bool channels_first = false;  // X[n, c, spatial]; only for `pool`
  int64_t p = 2;                // of Lp
};

struct PoolWindow {
  std::vector<int64_t> kernel, stride, pad;  // one per spatial dimension
  bool count_include_pad = false;
  // If they differ from `pad` on both sides and from a dilation of 1:
  std::vector<int64_t> pad_end = {}, dilation = {};
  // The part of pad_end that an average never counts: windows that begin inside X and end outside
  // it.
  std::vector<int64_t> uncounted = {};

  int64_t end_of(size_t dim) const { return pad_end.empty() ? pad[dim] : pad_end[dim]; }
  int64_t step_of(size_t dim) const { return dilation.empty() ? 1 : dilation[dim]; }
  int64_t uncounted_of(size_t dim) const { return uncounted.empty() ? 0 : uncounted[dim]; }
  int64_t length_of(size_t dim) const { return (kernel[dim] - 1) * step_of(dim) + 1; }
};

// All fail if the kind does not support the type or there are not 1 to 3 spatial dimensions; `pool`
// also if the kernel does not fit or the padding is not smaller than it.
Result<std::shared_ptr<const Dag>> pool(const PoolShape& shape, const PoolWindow& window);
Result<std::shared_ptr<const Dag>> global_pool(const PoolShape& shape);
Result<std::shared_ptr<const Dag>> adaptive_pool(const PoolShape& shape,
                                                 const std::vector<int64_t>& to);

Operator pool_operator();
Operator global_pool_operator();
Operator adaptive_pool_operator();

}  // namespace tilewright::te
