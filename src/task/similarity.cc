#include "task/similarity.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/type.h"

namespace tilewright {
namespace {

constexpr double kGoldenRatio = 1.618;

}  // namespace

int WorkloadForm::size_class() const {
  return static_cast<int>(std::log(flop + 1) / std::log(kGoldenRatio));
}

std::string WorkloadForm::group() const { return fmt::format("{}{}", loops, size_class()); }

WorkloadForm form_of(const te::Dag& dag) {
  WorkloadForm form;
  form.flop = dag.flop();
  for (const te::Op& op : dag.ops()) {
    if (op.kind != te::OpKind::Placeholder) {
      form.loops += fmt::format("{}.{} ", op.axes.size(), op.reduce_axes.size());
    }
    form.structure +=
        fmt::format("{}:{}:{}:", static_cast<int>(op.kind), op.axes.size(), op.reduce_axes.size());
    for (const te::TensorId id : op.outputs) form.structure += ir::name_of(dag.tensor(id).element);
    form.structure += ';';
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const te::Axis& axis : *axes) {
        form.log2_extents.push_back(std::log2(static_cast<double>(axis.extent.high)));
      }
    }
  }
  return form;
}

double extent_distance(const WorkloadForm& one, const WorkloadForm& other) {
  if (one.structure != other.structure) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (size_t k = 0; k < one.log2_extents.size(); ++k) {
    sum += std::abs(one.log2_extents[k] - other.log2_extents[k]);
  }
  return sum;
}

std::pair<Likeness, double> distance(const Workload& one, const Workload& other) {
  const WorkloadForm a = form_of(*one.dag), b = form_of(*other.dag);
  const double far = std::abs(std::log((a.flop + 1) / (b.flop + 1)));
  if (one.key() == other.key()) return {Likeness::Same, far};
  if (a.loops != b.loops) return {Likeness::Other, far};
  return {a.size_class() == b.size_class() ? Likeness::Group : Likeness::Loops, far};
}

}  // namespace tilewright
