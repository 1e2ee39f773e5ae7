// Code shared by operators on tensors of any rank: axis names by dimension (i, j, k, l, p, q, u,
// v, w, z), the axes of a shape, and parameters that name dimensions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

inline constexpr size_t kMaxDimensions = kMaxTensorRank;

std::string_view axis_name(size_t dimension);  // below kMaxDimensions
std::vector<Extent> extents_of(std::span<const int64_t> shape);
std::vector<Axis> axes_of(DagBuilder& builder, std::span<const int64_t> shape);
std::vector<ir::Expr> vars_of(std::span<const Axis> axes);

Parameter shape_parameter(std::string_view doc);  // `shape`
// `axis`, one number, and `axes`, a list such as 0x-1; -1 is the last.
Parameter axis_parameter(std::string_view doc, std::string_view fallback = "");
Parameter axes_parameter(std::string_view doc);

// Fails unless there are `min_rank` to kMaxDimensions.
Status require_dimensions(std::string_view op, std::span<const int64_t> shape, size_t min_rank = 1);

// The axis that `number` names in `rank` dimensions: 0 is the first, -1 the last.
Result<size_t> resolve_axis(std::string_view op, int64_t number, size_t rank);

// `list` with one number per dimension; a single number applies to every dimension.
Result<std::vector<int64_t>> per_dimension(std::string_view op, std::string_view parameter,
                                           std::span<const int64_t> list, size_t rank);

}  // namespace tilewright::te
