// Stages that fold some dimensions of a tensor (the columns) for each place in the others (the
// rows), and stages of whole tensors that read what was folded. Axes bear the names of their
// dimensions (te/ops/dimensions.h), with an r before them where they are folded.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "graph/ops/common.h"

namespace tilewright::graph {

class Rows {
 public:
  // `columns`: ascending, at least one.
  Rows(te::DagBuilder& builder, Shape shape, std::span<const size_t> columns);

  double count() const;  // elements of a row

  // name[rows] = the fold of value(row, element) over the columns. Values have the type in which
  // they are added; the result is kept in it.
  using Folded = std::function<ir::Expr(const std::vector<ir::Expr>& row,
                                        const std::vector<ir::Expr>& element)>;
  te::TensorId fold(std::string_view name, ir::BinaryOp op, const Folded& value) const;

  // name[rows] = value(row). It counts as no flop unless `counted`: it is done once a row.
  using OfRow = std::function<ir::Expr(const std::vector<ir::Expr>& row)>;
  te::TensorId each_row(std::string_view name, const OfRow& value, bool counted = false) const;

  // name[shape] = value(row, element), stored as `element_type`, by default the value's.
  te::TensorId each(std::string_view name, const Folded& value,
                    std::optional<ir::Scalar> element_type = {}) const;

 private:
  std::vector<te::Axis> row_axes() const;
  te::DagBuilder& builder_;
  Shape shape_;
  std::vector<bool> folded_;  // by dimension
};

}  // namespace tilewright::graph
