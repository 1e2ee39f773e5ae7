#include "te/ops/concat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

constexpr size_t kMaxParts = 1024;

Status check_parts(std::span<const int64_t> parts, int64_t extent, size_t axis) {
  if (parts.size() > kMaxParts) {
    return fail(ErrorKind::Unsupported,
                fmt::format("concat: {} parts; at most {} are supported", parts.size(), kMaxParts));
  }
  if (std::accumulate(parts.begin(), parts.end(), int64_t{0}) == extent) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("concat: parts={} do not add up to extent {} of axis {}",
                          fmt::join(parts, "x"), extent, axis));
}

}  // namespace

Result<std::shared_ptr<const Dag>> concat(std::span<const int64_t> shape, int64_t axis,
                                          std::span<const int64_t> parts, ir::Scalar element) {
  TRY(require_dimensions("concat", shape));
  const auto along = TRY(resolve_axis("concat", axis, shape.size()));
  TRY(check_parts(parts, shape[along], along));
  DagBuilder builder;
  std::vector<TensorId> operands;
  std::vector<Extent> extents = extents_of(shape);
  for (const int64_t part : parts) {
    extents[along] = part;
    operands.push_back(
        builder.placeholder(fmt::format("X{}", operands.size() + 1), extents, element));
  }
  const std::vector<Axis> axes = axes_of(builder, shape);
  const ir::Expr position = axes[along].var;
  // From the last operand to the first: Y = position < end of X1 ? X1 : (... : Xn).
  ir::Expr value;
  int64_t begin = shape[along];
  for (size_t k = parts.size(); k-- > 0;) {
    const int64_t end = begin;
    begin -= parts[k];
    std::vector<ir::Expr> indices = vars_of(axes);
    if (begin > 0) indices[along] = position - begin;
    const ir::Expr part = builder.read(operands[k], std::move(indices));
    value = value.defined() ? ir::select(position < end, part, value) : part;
  }
  builder.compute("Y", axes, value, element);
  return std::move(builder).build();
}

Operator concat_operator() {
  return {.name = "concat",
          .doc = "X1, X2, ... -> Y[shape], one after the other along an axis",
          .parameters = {shape_parameter("extents of Y, such as 4x10x6"),
                         axis_parameter("the axis to join along; -1 is the last"),
                         {.name = "parts",
                          .doc = "extents of X1, X2, ... along the axis, such as 3x5x2",
                          .kind = ParameterKind::Shape},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            return concat(arguments.shape("shape"), arguments.integer("axis"),
                          arguments.shape("parts"), arguments.scalar("dtype"));
          }};
}

}  // namespace tilewright::te
