#include "te/ops/reshape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

// The row-major index of `vars` in `extents`; one that is 1 does not count.
Expr flat_index(std::span<const Expr> vars, std::span<const int64_t> extents) {
  Expr flat;
  for (size_t d = 0; d < vars.size(); ++d) {
    if (extents[d] == 1) continue;
    flat = flat.defined() ? flat * extents[d] + vars[d] : vars[d];
  }
  return flat.defined() ? flat : ir::int_imm(0);
}

// The reverse: appends the indices of `flat` in `extents`.
void append_indices(const Expr& flat, std::span<const int64_t> extents,
                    std::vector<Expr>& indices) {
  for (size_t d = 0; d < extents.size(); ++d) {
    int64_t inner = 1, outer = 1;
    for (size_t k = d + 1; k < extents.size(); ++k) inner *= extents[k];
    for (size_t k = 0; k < d; ++k) outer *= extents[k];
    if (extents[d] == 1) {
      indices.push_back(ir::int_imm(0));
      continue;
    }
    const Expr digit = inner == 1 ? flat : flat / inner;
    indices.push_back(outer == 1 ? digit : digit % extents[d]);
  }
}

// The indices of X for those of Y, by the shortest runs of dimensions with equal numbers of
// elements: 6x4 and 2x3x2x2 split into (6 | 2x3) and (4 | 2x2).
std::vector<Expr> source_indices(std::span<const int64_t> from, std::span<const int64_t> to,
                                 std::span<const Expr> vars) {
  std::vector<Expr> indices;
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    const size_t first_from = f, first_to = t;
    int64_t size_from = f < from.size() ? from[f++] : 1;
    int64_t size_to = t < to.size() ? to[t++] : 1;
    while (size_from != size_to) {
      if (size_from < size_to) {
        size_from *= from[f++];
      } else {
        size_to *= to[t++];
      }
    }
    const Expr flat =
        flat_index(vars.subspan(first_to, t - first_to), to.subspan(first_to, t - first_to));
    append_indices(flat, from.subspan(first_from, f - first_from), indices);
  }
  return indices;
}

// The number of elements; nothing on overflow.
std::optional<int64_t> elements_of(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count) || count > kMaxElements) return {};
  }
  return count;
}

Status check_reshape(std::span<const int64_t> shape, std::span<const int64_t> to) {
  for (const auto& side : {shape, to}) {
    TRY(require_dimensions("reshape", side, 0));
    if (!elements_of(side)) {
      return fail(ErrorKind::BadInput,
                  fmt::format("reshape: {} is too large; at most {} elements are supported",
                              fmt::join(side, "x"), kMaxElements));
    }
  }
  if (elements_of(shape) == elements_of(to)) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("reshape: {} has {} elements and {} has {}", fmt::join(shape, "x"),
                          *elements_of(shape), fmt::join(to, "x"), *elements_of(to)));
}

Status check_permutation(std::span<const int64_t> perm, size_t rank) {
  std::vector<int64_t> sorted(perm.begin(), perm.end());
  std::ranges::sort(sorted);
  bool each_once = perm.size() == rank;
  for (size_t d = 0; each_once && d < rank; ++d) each_once = sorted[d] == static_cast<int64_t>(d);
  if (each_once) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("transpose: perm={} should have each of the numbers 0 to {} once",
                          fmt::join(perm, "x"), rank - 1));
}

}  // namespace

Result<std::shared_ptr<const Dag>> transpose(std::span<const int64_t> shape,
                                             std::span<const int64_t> perm, ir::Scalar element) {
  TRY(require_dimensions("transpose", shape, 0));
  TRY(check_permutation(perm, shape.size()));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), element);
  std::vector<int64_t> turned;
  for (const int64_t dimension : perm) turned.push_back(shape[static_cast<size_t>(dimension)]);
  const std::vector<Axis> axes = axes_of(builder, turned);
  std::vector<Expr> indices(shape.size());
  for (size_t d = 0; d < perm.size(); ++d) indices[static_cast<size_t>(perm[d])] = axes[d].var;
  builder.compute("Y", axes, builder.read(x, std::move(indices)), element);
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> reshape(std::span<const int64_t> shape,
                                           std::span<const int64_t> to, ir::Scalar element) {
  TRY(check_reshape(shape, to));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), element);
  const std::vector<Axis> axes = axes_of(builder, to);
  builder.compute("Y", axes, builder.read(x, source_indices(shape, to, vars_of(axes))), element);
  return std::move(builder).build();
}

Operator transpose_operator() {
  return {.name = "transpose",
          .doc = "X[shape] -> Y, dimension d of which is dimension perm[d] of X",
          .parameters = {shape_parameter("extents of X, such as 2x3x4"),
                         {.name = "perm",
                          .doc = "the dimensions of X in the order of Y, such as 2x0x1",
                          .kind = ParameterKind::Shape,
                          .low = 0},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return transpose(arguments.shape("shape"), arguments.shape("perm"),
                             arguments.scalar("dtype"));
          }};
}

Operator reshape_operator() {
  return {.name = "reshape",
          .doc = "X[shape] -> Y[to], in row-major order",
          .parameters = {shape_parameter("extents of X, such as 6x4"),
                         {.name = "to",
                          .doc = "extents of Y, such as 2x3x2x2",
                          .kind = ParameterKind::Shape},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return reshape(arguments.shape("shape"), arguments.shape("to"),
                           arguments.scalar("dtype"));
          }};
}

}  // namespace tilewright::te
