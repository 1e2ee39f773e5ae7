#include "te/ops/cast.h"

#include "te/ops/dimensions.h"

namespace tilewright::te {

Result<std::shared_ptr<const Dag>> cast(std::span<const int64_t> shape, ir::Scalar from,
                                        ir::Scalar to) {
  TRY(require_dimensions("cast", shape));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), from);
  const std::vector<Axis> axes = axes_of(builder, shape);
  builder.compute("Y", axes, builder.read(x, vars_of(axes)), to);
  return std::move(builder).build();
}

Operator cast_operator() {
  return {.name = "cast",
          .doc = "X[shape] -> Y[shape] of another type",
          .parameters = {shape_parameter("extents, such as 64x128"),
                         {.name = "from", .doc = "type of X", .kind = ParameterKind::Scalar},
                         {.name = "to", .doc = "type of Y", .kind = ParameterKind::Scalar}},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return cast(arguments.shape("shape"), arguments.scalar("from"), arguments.scalar("to"));
          }};
}

}  // namespace tilewright::te
