#include "te/ops/dimensions.h"

#include <fmt/format.h>

#include "base/check.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kAxisNames[kMaxDimensions] = {"i", "j", "k", "l", "p",
                                                         "q", "u", "v", "w", "z"};

}  // namespace

std::string_view axis_name(size_t dimension) {
  CHECK(dimension < kMaxDimensions, "dimension {}", dimension);
  return kAxisNames[dimension];
}

std::vector<Extent> extents_of(std::span<const int64_t> shape) {
  return {shape.begin(), shape.end()};
}

std::vector<Axis> axes_of(DagBuilder& builder, std::span<const int64_t> shape) {
  std::vector<Axis> axes;
  axes.reserve(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) axes.push_back(builder.axis(axis_name(d), shape[d]));
  return axes;
}

std::vector<ir::Expr> vars_of(std::span<const Axis> axes) {
  std::vector<ir::Expr> vars;
  vars.reserve(axes.size());
  for (const Axis& axis : axes) vars.push_back(axis.var);
  return vars;
}

Parameter shape_parameter(std::string_view doc) {
  return {.name = "shape", .doc = doc, .kind = ParameterKind::Shape};
}

Parameter axis_parameter(std::string_view doc, std::string_view fallback) {
  return {.name = "axis",
          .doc = doc,
          .fallback = fallback,
          .low = -static_cast<int64_t>(kMaxDimensions),
          .high = static_cast<int64_t>(kMaxDimensions) - 1};
}

Parameter axes_parameter(std::string_view doc) {
  Parameter axes = axis_parameter(doc);
  axes.name = "axes";
  axes.kind = ParameterKind::Shape;
  return axes;
}

Status require_dimensions(std::string_view op, std::span<const int64_t> shape, size_t min_rank) {
  if (shape.size() >= min_rank && shape.size() <= kMaxDimensions) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("{}: a shape of {} dimensions; {} to {} are supported", op, shape.size(),
                          min_rank, kMaxDimensions));
}

Result<size_t> resolve_axis(std::string_view op, int64_t number, size_t rank) {
  const auto dimensions = static_cast<int64_t>(rank);
  if (number < -dimensions || number >= dimensions) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: there is no axis {}; with {} dimensions legal are {} to {}", op,
                            number, rank, -dimensions, dimensions - 1));
  }
  return static_cast<size_t>(number < 0 ? number + dimensions : number);
}

Result<std::vector<int64_t>> per_dimension(std::string_view op, std::string_view parameter,
                                           std::span<const int64_t> list, size_t rank) {
  if (list.size() == 1) return std::vector<int64_t>(rank, list[0]);
  if (list.size() == rank) return std::vector<int64_t>(list.begin(), list.end());
  return fail(ErrorKind::BadInput, fmt::format("{}: parameter {} has {} numbers for {} dimensions",
                                               op, parameter, list.size(), rank));
}

}  // namespace tilewright::te
