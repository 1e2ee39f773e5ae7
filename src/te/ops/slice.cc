#include "te/ops/slice.h"

#include <fmt/format.h>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

Status check(const SliceShape& shape) {
  TRY(require_dimensions("slice", shape.shape));
  for (size_t d = 0; d < shape.shape.size(); ++d) {
    const int64_t extent = shape.shape[d], step = shape.step[d], first = shape.begin[d];
    const int64_t last = first + (shape.size[d] - 1) * step;
    if (step == 0) {
      return fail(ErrorKind::BadInput, fmt::format("slice: the step of dimension {} is 0", d));
    }
    if (first >= extent || last < 0 || last >= extent) {
      return fail(ErrorKind::BadInput,
                  fmt::format("slice: dimension {} reads elements {} to {}; there are 0 to {}", d,
                              first, last, extent - 1));
    }
  }
  return {};
}

ir::Expr times(const ir::Expr& index, int64_t step) { return step == 1 ? index : index * step; }

}  // namespace

Result<std::shared_ptr<const Dag>> slice(const SliceShape& shape) {
  TRY(check(shape));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape.shape), shape.element);
  const std::vector<Axis> axes = axes_of(builder, shape.size);
  std::vector<ir::Expr> indices;
  for (size_t d = 0; d < axes.size(); ++d) {
    const ir::Expr moved = times(axes[d].var, shape.step[d]);
    indices.push_back(shape.begin[d] == 0 ? moved : moved + shape.begin[d]);
  }
  builder.compute("Y", axes, builder.read(x, std::move(indices)), shape.element);
  return std::move(builder).build();
}

Operator slice_operator() {
  return {.name = "slice",
          .doc = "X[shape] -> Y[size], Y[i] = X[begin + i * step] along each dimension",
          .parameters = {shape_parameter("extents of X, such as 64x128"),
                         {.name = "begin",
                          .doc = "first element of each dimension, or one number for all",
                          .fallback = "0",
                          .kind = ParameterKind::Shape,
                          .low = 0},
                         {.name = "size",
                          .doc = "extents of Y, such as 4x8",
                          .kind = ParameterKind::Shape},
                         {.name = "step",
                          .doc = "elements from one to the next, negative for backwards, or one "
                                 "number for all",
                          .fallback = "1",
                          .kind = ParameterKind::Shape,
                          .low = -kMaxParameter},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            SliceShape shape{.shape = arguments.shape("shape"),
                             .begin = {},
                             .size = {},
                             .step = {},
                             .element = arguments.scalar("dtype")};
            const std::pair<std::string_view, std::vector<int64_t>*> lists[] = {
                {"begin", &shape.begin}, {"size", &shape.size}, {"step", &shape.step}};
            for (const auto& [name, list] : lists) {
              auto numbers =
                  TRY(per_dimension("slice", name, arguments.shape(name), shape.shape.size()));
              *list = std::move(numbers);
            }
            return slice(shape);
          }};
}

}  // namespace tilewright::te
