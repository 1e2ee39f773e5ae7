#include "te/ops/rows.h"

#include <utility>

#include "base/check.h"
#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

double count(const std::vector<NamedExtent>& extents) {
  double product = 1;
  for (const NamedExtent& one : extents) product *= static_cast<double>(one.extent);
  return product;
}

}  // namespace

Rows::Rows(DagBuilder& builder, Layout layout) : builder_(builder), layout_(std::move(layout)) {
  CHECK(!layout_.columns.empty(), "rows without columns");
}

double Rows::columns() const { return count(layout_.columns); }

double Rows::elements() const { return count(layout_.elements); }

std::vector<Axis> Rows::axes_of(const std::vector<NamedExtent>& made_from) const {
  std::vector<Axis> axes;
  axes.reserve(made_from.size());
  for (const NamedExtent& one : made_from) axes.push_back(builder_.axis(one.name, one.extent));
  return axes;
}

TensorId Rows::reduce(std::string_view name, ir::BinaryOp op, const OfElement& value) const {
  const std::vector<Axis> rows = axes_of(layout_.rows);
  const std::vector<Axis> columns = axes_of(layout_.columns);
  const Indices row = vars_of(rows);
  const ir::Expr term = value(row, layout_.element_at(row, vars_of(columns)));
  return builder_.reduce(name, rows, columns, op, term, term.type().scalar);
}

TensorId Rows::each_row(std::string_view name, const OfRow& value, bool counted) const {
  const std::vector<Axis> rows = axes_of(layout_.rows);
  const TensorId made = builder_.compute(name, rows, value(vars_of(rows)));
  if (!counted) builder_.set_flop(made, 0);
  return made;
}

TensorId Rows::each(std::string_view name, const OfElement& value,
                    std::optional<ir::Scalar> element_type) const {
  const std::vector<Axis> axes = axes_of(layout_.elements);
  const Indices element = vars_of(axes);
  return builder_.compute(name, axes, value(layout_.row_of(element), element), element_type);
}

Rows rows_of(DagBuilder& builder, std::span<const int64_t> shape, std::span<const size_t> columns) {
  std::vector<bool> reduced(shape.size());
  for (const size_t column : columns) reduced.at(column) = true;
  Rows::Layout layout;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::string name(axis_name(d));
    layout.elements.push_back({.name = name, .extent = shape[d]});
    if (reduced[d]) {
      layout.columns.push_back({.name = "r" + name, .extent = shape[d]});
    } else {
      layout.rows.push_back({.name = name, .extent = shape[d]});
    }
  }
  layout.element_at = [reduced](const Indices& row, const Indices& column) {
    Indices element;
    size_t rows = 0, cols = 0;
    for (const bool is_column : reduced) {
      element.push_back(is_column ? column[cols++] : row[rows++]);
    }
    return element;
  };
  layout.row_of = [reduced](const Indices& element) {
    Indices row;
    for (size_t d = 0; d < reduced.size(); ++d) {
      if (!reduced[d]) row.push_back(element[d]);
    }
    return row;
  };
  return {builder, std::move(layout)};
}

Rows rows_with_columns(DagBuilder& builder, std::vector<NamedExtent> rows, int64_t columns) {
  Rows::Layout layout;
  layout.elements = rows;
  layout.elements.push_back({.name = "j", .extent = columns});
  layout.rows = std::move(rows);
  layout.columns = {{.name = "k", .extent = columns}};
  layout.element_at = [](const Indices& row, const Indices& column) {
    Indices element = row;
    element.push_back(column[0]);
    return element;
  };
  layout.row_of = [](const Indices& element) {
    return Indices(element.begin(), element.end() - 1);
  };
  return {builder, std::move(layout)};
}

}  // namespace tilewright::te
