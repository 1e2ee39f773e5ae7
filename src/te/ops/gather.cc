#include "te/ops/gather.h"

#include <fmt/format.h>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::Expr;

Status check_index(std::string_view op, ir::Scalar index) {
  if (index == ir::Scalar::I32 || index == ir::Scalar::I64) return {};
  return fail(
      ErrorKind::Unsupported,
      fmt::format("{}: index {} is not supported; types are i32, i64", op, ir::name_of(index)));
}

Expr read_index(DagBuilder& builder, TensorId indices, std::span<const Expr> at) {
  return ir::cast(ir::Scalar::I64, builder.read(indices, {at.begin(), at.end()}));
}

Parameter index_parameter() {
  return {.name = "index",
          .doc = "type of the indices, i64 or i32",
          .fallback = "i64",
          .kind = ParameterKind::Scalar};
}

}  // namespace

Result<std::shared_ptr<const Dag>> gather(std::span<const int64_t> shape, int64_t axis,
                                          std::span<const int64_t> indices, ir::Scalar element,
                                          ir::Scalar index) {
  TRY(check_index("gather", index));
  const auto along = TRY(resolve_axis("gather", axis, shape.size()));
  std::vector<int64_t> result(shape.begin(), shape.end());
  const auto place = result.erase(result.begin() + static_cast<int64_t>(along));
  result.insert(place, indices.begin(), indices.end());
  TRY(require_dimensions("gather", result, 0));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), element);
  const TensorId i = builder.placeholder("I", extents_of(indices), index);
  const std::vector<Axis> axes = axes_of(builder, result);
  const std::vector<Expr> vars = vars_of(axes);
  const Expr given = read_index(builder, i, std::span(vars).subspan(along, indices.size()));
  const int64_t extent = shape[along];
  const Expr from_front = ir::select(given < 0, given + extent, given);
  const Expr clamped = ir::min(ir::max(from_front, ir::int_imm(0)), ir::int_imm(extent - 1));
  std::vector<Expr> source(vars.begin(), vars.begin() + static_cast<int64_t>(along));
  source.push_back(clamped);
  source.insert(source.end(), vars.begin() + static_cast<int64_t>(along + indices.size()),
                vars.end());
  builder.compute("Y", axes, builder.read(x, std::move(source)), element);
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> one_hot(const OneHotShape& shape) {
  TRY(check_index("one_hot", shape.index));
  for (const double value : {shape.on, shape.off}) {
    TRY(require_value("one_hot", value, shape.element));
  }
  const auto along = TRY(resolve_axis("one_hot", shape.axis, shape.shape.size() + 1));
  std::vector<int64_t> result = shape.shape;
  result.insert(result.begin() + static_cast<int64_t>(along), shape.depth);
  TRY(require_dimensions("one_hot", result));
  DagBuilder builder;
  const TensorId i = builder.placeholder("I", extents_of(shape.shape), shape.index);
  const std::vector<Axis> axes = axes_of(builder, result);
  std::vector<Expr> at = vars_of(axes);
  const Expr position = at[along];
  at.erase(at.begin() + static_cast<int64_t>(along));
  const Expr given = read_index(builder, i, at);
  const Expr here = ir::binary(ir::BinaryOp::Eq, given, position) ||
                    ir::binary(ir::BinaryOp::Eq, given + shape.depth, position);
  const ir::Type type{ir::arithmetic_type(shape.element), 1};
  builder.compute("Y", axes, ir::select(here, ir::imm(shape.on, type), ir::imm(shape.off, type)),
                  shape.element);
  return std::move(builder).build();
}

Operator gather_operator() {
  return {.name = "gather",
          .doc = "X[shape] I[indices] -> Y, X with `axis` indexed by I",
          .parameters = {shape_parameter("extents of X, such as 10x4"),
                         axis_parameter("the axis that is indexed; -1 is the last", "0"),
                         {.name = "indices",
                          .doc = "extents of I, such as 3x2",
                          .kind = ParameterKind::Shape},
                         dtype_parameter(),
                         index_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return gather(arguments.shape("shape"), arguments.integer("axis"),
                          arguments.shape("indices"), arguments.scalar("dtype"),
                          arguments.scalar("index"));
          }};
}

Operator one_hot_operator() {
  const auto number = [](std::string_view name, std::string_view doc, std::string_view fallback) {
    return Parameter{.name = name, .doc = doc, .fallback = fallback, .kind = ParameterKind::Number};
  };
  return {.name = "one_hot",
          .doc = "I[shape] -> Y, `on` where the new dimension's index is I's element, else `off`",
          .parameters = {shape_parameter("extents of I, such as 3x2"),
                         {.name = "depth", .doc = "extent of the new dimension"},
                         axis_parameter("position of the new dimension; -1 is last", "-1"),
                         number("on", "value at the index", "1"),
                         number("off", "value elsewhere", "0"),
                         dtype_parameter(),
                         index_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return one_hot({.shape = arguments.shape("shape"),
                            .depth = arguments.integer("depth"),
                            .axis = arguments.integer("axis"),
                            .on = arguments.number("on"),
                            .off = arguments.number("off"),
                            .element = arguments.scalar("dtype"),
                            .index = arguments.scalar("index")});
          }};
}

}  // namespace tilewright::te
