#include "oracle/sample_elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "ir/visit.h"
#include "oracle/element.h"

namespace tilewright::oracle {
namespace {

constexpr size_t kMinSamples = 2, kMaxSamples = 256;
constexpr size_t kCornerDimensions = 4;  // 16 corners
constexpr int64_t kTail = 17;            // distance from the end: more than a vector has

double nodes_of(const ir::Expr& expr) {
  double nodes = 1;
  ir::for_each_child(expr, [&](const ir::Expr& child) { nodes += nodes_of(child); });
  return nodes;
}

// The number of values of an index for axes with these `extents`.
double values_of(const te::AccessDim& dim, std::span<const double> extents) {
  double values = 1;
  if (dim.affine) {
    for (const arith::Term& term : dim.index.terms) {
      values += std::abs(static_cast<double>(term.coefficient)) * (extents[term.var] - 1);
    }
    return values;
  }
  for (uint64_t axes = dim.axes; axes != 0; axes &= axes - 1) {
    values *= extents[static_cast<size_t>(std::countr_zero(axes))];
  }
  return values;
}

// The extents of the box of elements that are needed of each tensor.
using Boxes = std::vector<std::vector<double>>;

void widen(Boxes& boxes, const te::Dag& dag, const te::Access& read,
           std::span<const double> extents) {
  const te::Tensor& tensor = dag.tensor(read.tensor);
  std::vector<double>& box = boxes[read.tensor];
  box.resize(tensor.shape.size(), 1);
  for (size_t d = 0; d < box.size(); ++d) {
    box[d] = std::min(std::max(box[d], values_of(read.dims[d], extents)),
                      static_cast<double>(tensor.shape[d].high));
  }
}

}  // namespace

double work_of_element(const te::Dag& dag, te::TensorId tensor) {
  Boxes boxes(dag.tensors().size());
  std::vector<bool> needed(dag.ops().size());
  boxes[tensor].assign(dag.tensor(tensor).shape.size(), 1);
  needed[dag.tensor(tensor).op] = true;
  double work = 0;
  for (te::OpId id = dag.tensor(tensor).op + 1; id-- > 0;) {
    const te::Op& op = dag.op(id);
    if (!needed[id] || op.kind == te::OpKind::Placeholder) continue;
    std::vector<double> extents(op.axes.size(), 1);
    for (const te::TensorId output : op.outputs) {
      for (size_t d = 0; d < boxes[output].size(); ++d) {
        extents[d] = std::max(extents[d], boxes[output][d]);
      }
    }
    for (const te::Axis& axis : op.reduce_axes) {
      extents.push_back(static_cast<double>(axis.extent.high));
    }
    double nodes = 0, trips = 1;
    for (const ir::Expr& body : op.body) nodes += nodes_of(body);
    for (const double extent : extents) trips *= extent;
    work += trips * nodes;
    for (const te::Access& read : dag.access(id).reads) {
      widen(boxes, dag, read, extents);
      needed[dag.tensor(read.tensor).op] = true;
    }
  }
  return work;
}

std::vector<int64_t> sample_elements(const te::Dag& dag, te::TensorId tensor, double work_budget,
                                     Rng& rng) {
  const std::vector<int64_t> shape = shape_of(dag.tensor(tensor));
  const int64_t elements = elements_of(dag.tensor(tensor));
  const double affordable = work_budget / std::max(1.0, work_of_element(dag, tensor));
  const auto count = static_cast<size_t>(std::min(
      std::clamp(affordable, static_cast<double>(kMinSamples), static_cast<double>(kMaxSamples)),
      static_cast<double>(elements)));
  std::vector<int64_t> chosen;
  std::set<int64_t> seen;
  const auto add = [&](auto index_of) {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index_of(d);
    if (chosen.size() < count && seen.insert(offset).second) chosen.push_back(offset);
  };
  // Corners in opposite pairs: two samples are the first and the last element.
  const size_t corner_dimensions = std::min(shape.size(), kCornerDimensions);
  const uint64_t corners = uint64_t{1} << corner_dimensions;
  for (uint64_t k = 0; k < corners; ++k) {
    const uint64_t corner = k % 2 == 0 ? k / 2 : corners - 1 - k / 2;
    add([&](size_t d) {
      const size_t bit = std::min(d, corner_dimensions - 1);
      return (corner >> bit) % 2 == 0 ? 0 : shape[d] - 1;
    });
  }
  for (size_t attempt = 0; chosen.size() < count && attempt < 8 * count; ++attempt) {
    add([&](size_t d) {
      const bool near_end = attempt % 2 == 0 && rng.chance(0.5);
      return rng.between(near_end ? std::max<int64_t>(0, shape[d] - kTail) : 0, shape[d] - 1);
    });
  }
  return chosen;
}

}  // namespace tilewright::oracle
