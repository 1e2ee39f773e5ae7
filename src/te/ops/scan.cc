#include "te/ops/scan.h"

#include <fmt/format.h>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

class Scan {
 public:
  Scan(const CumulativeSumShape& shape, size_t along)
      : shape_(shape), along_(along), sum_(accumulator_of(shape.element)) {}

  std::shared_ptr<const Dag> build() && {
    const int64_t extent = shape_.shape[along_];
    TensorId source = builder_.placeholder("X", extents_of(shape_.shape), shape_.element);
    int64_t before = shape_.exclusive ? 1 : 0;  // how far behind its own element a sum ends
    if (extent == 1) add_stage("Y", source, before, {}, result_of(shape_.element));
    for (int64_t distance = 1, stage = 1; distance < extent; distance *= 2, ++stage) {
      const bool last = 2 * distance >= extent;
      source = add_stage(last ? "Y" : fmt::format("T{}", stage), source, before, distance,
                         last ? result_of(shape_.element) : sum_);
      before = 0;
    }
    return std::move(builder_).build();
  }

 private:
  // source[j - before], plus source[j - before - distance] if there is a distance.
  TensorId add_stage(std::string_view name, TensorId source, int64_t before,
                     std::optional<int64_t> distance, ir::Scalar stored) {
    const std::vector<Axis> axes = axes_of(builder_, shape_.shape);
    Expr value = behind(source, axes, before);
    if (distance) value = value + behind(source, axes, before + *distance);
    return builder_.compute(name, axes, ir::cast(sum_, value), stored);
  }

  // The element of `source` that is `distance` before, in the direction of the sum; 0 if there is
  // none.
  Expr behind(TensorId source, const std::vector<Axis>& axes, int64_t distance) const {
    std::vector<Expr> indices = vars_of(axes);
    Expr& index = indices[along_];
    const Expr position = index;
    if (distance > 0) index = shape_.reverse ? position + distance : position - distance;
    Expr value = ir::cast(sum_, builder_.read(source, std::move(indices)));
    if (distance == 0) return value;
    const Expr exists =
        shape_.reverse ? position < shape_.shape[along_] - distance : position >= distance;
    return ir::select(exists, value, ir::imm(0, value.type()));
  }

  const CumulativeSumShape& shape_;
  size_t along_;
  ir::Scalar sum_;
  DagBuilder builder_;
};

}  // namespace

Result<std::shared_ptr<const Dag>> cumulative_sum(const CumulativeSumShape& shape) {
  TRY(require_number("cumulative_sum", shape.element));
  TRY(require_dimensions("cumulative_sum", shape.shape));
  const auto along = TRY(resolve_axis("cumulative_sum", shape.axis, shape.shape.size()));
  return Scan(shape, along).build();
}

Operator cumulative_sum_operator() {
  return {.name = "cumulative_sum",
          .doc = "X[shape] -> Y[shape], the sum of all elements up to each along an axis",
          .parameters = {shape_parameter("extents, such as 64x128"),
                         axis_parameter("the axis to sum along; -1 is the last", "-1"),
                         flag_parameter("exclusive", "1: without the element itself"),
                         flag_parameter("reverse", "1: from the last element to the first"),
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return cumulative_sum({.shape = arguments.shape("shape"),
                                   .axis = arguments.integer("axis"),
                                   .exclusive = arguments.flag("exclusive"),
                                   .reverse = arguments.flag("reverse"),
                                   .element = arguments.scalar("dtype")});
          }};
}

}  // namespace tilewright::te
