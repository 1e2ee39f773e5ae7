#include "graph/ops/rows.h"

#include <fmt/format.h>

#include "base/check.h"

namespace tilewright::graph {

using ir::Expr;

Rows::Rows(te::DagBuilder& builder, Shape shape, std::span<const size_t> columns)
    : builder_(builder), shape_(std::move(shape)), folded_(shape_.size()) {
  CHECK(!columns.empty(), "rows without columns");
  for (const size_t column : columns) folded_.at(column) = true;
}

double Rows::count() const {
  double count = 1;
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (folded_[d]) count *= static_cast<double>(shape_[d]);
  }
  return count;
}

std::vector<te::Axis> Rows::row_axes() const {
  std::vector<te::Axis> axes;
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (!folded_[d]) axes.push_back(builder_.axis(te::axis_name(d), shape_[d]));
  }
  return axes;
}

te::TensorId Rows::fold(std::string_view name, ir::BinaryOp op, const Folded& value) const {
  const std::vector<te::Axis> rows = row_axes();
  std::vector<te::Axis> columns;
  std::vector<Expr> element;
  size_t next = 0;
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (folded_[d]) {
      columns.push_back(builder_.axis(fmt::format("r{}", te::axis_name(d)), shape_[d]));
    }
    element.push_back(folded_[d] ? columns.back().var : rows[next++].var);
  }
  const Expr folded = value(te::vars_of(rows), element);
  return builder_.reduce(name, rows, columns, op, folded, folded.type().scalar);
}

te::TensorId Rows::each_row(std::string_view name, const OfRow& value, bool counted) const {
  const std::vector<te::Axis> rows = row_axes();
  const te::TensorId made = builder_.compute(name, rows, value(te::vars_of(rows)));
  if (!counted) builder_.set_flop(made, 0);
  return made;
}

te::TensorId Rows::each(std::string_view name, const Folded& value,
                        std::optional<ir::Scalar> element_type) const {
  const std::vector<te::Axis> axes = te::axes_of(builder_, shape_);
  std::vector<Expr> row;
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (!folded_[d]) row.push_back(axes[d].var);
  }
  return builder_.compute(name, axes, value(row, te::vars_of(axes)), element_type);
}

}  // namespace tilewright::graph
