// Rows: builds stages that reduce some dimensions of a tensor (its columns) for each index of the
// others (its rows), and stages over the whole tensor that read the reduced values. Softmax and the
// norms are written with it, for any shape.
//
//   Rows rows = rows_of(builder, {8, 16}, {{1}});             // X[i, j]: a row for each i
//   TensorId sums = rows.reduce("S", Add, [&](row, at) { return builder.read(x, at); });
//   rows.each("Y", [&](row, at) { return builder.read(x, at) / builder.read(sums, row); });
//
// A Rows refers to the builder, which must outlive it. Each stage has fresh axes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "te/dag_builder.h"

namespace tilewright::te {

using Indices = std::vector<ir::Expr>;

// The name and extent of an axis.
struct NamedExtent {
  std::string name;
  int64_t extent = 1;
};

class Rows {
 public:
  struct Layout {
    std::vector<NamedExtent> rows;      // axes of a stage with one element per row
    std::vector<NamedExtent> columns;   // axes that its reductions reduce; at least one
    std::vector<NamedExtent> elements;  // axes of a stage over the whole tensor
    // The indices of the element at a column of a row, and of the row of an element.
    std::function<Indices(const Indices& row, const Indices& column)> element_at;
    std::function<Indices(const Indices& element)> row_of;
  };
  Rows(DagBuilder& builder, Layout layout);

  double columns() const;   // elements per row
  double elements() const;  // of all rows

  // name[rows] = value(row, element) reduced by `op` over the columns, in the type of the value.
  using OfElement = std::function<ir::Expr(const Indices& row, const Indices& element)>;
  TensorId reduce(std::string_view name, ir::BinaryOp op, const OfElement& value) const;

  // name[rows] = value(row). Counts as FLOP only if `counted`, because it is computed once per row.
  using OfRow = std::function<ir::Expr(const Indices& row)>;
  TensorId each_row(std::string_view name, const OfRow& value, bool counted = false) const;

  // name[elements] = value(row, element), stored as `element_type`, by default the value's.
  TensorId each(std::string_view name, const OfElement& value,
                std::optional<ir::Scalar> element_type = {}) const;

 private:
  std::vector<Axis> axes_of(const std::vector<NamedExtent>& made_from) const;
  DagBuilder& builder_;
  Layout layout_;
};

// A tensor of this shape whose dimensions `columns` (ascending, at least one) are reduced. Axes
// have the names of their dimensions (te/ops/dimensions.h), prefixed by r if reduced.
Rows rows_of(DagBuilder& builder, std::span<const int64_t> shape, std::span<const size_t> columns);

// A tensor with these rows, followed by one dimension of columns: axis j, or k if it is reduced.
Rows rows_with_columns(DagBuilder& builder, std::vector<NamedExtent> rows, int64_t columns);

}  // namespace tilewright::te
