#include "task/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ir/type.h"

namespace tilewright {
namespace {

constexpr double kGoldenRatio = 1.618;

std::string structure_of(const te::Dag& dag, const te::Op& op) {
  std::string text =
      fmt::format("{}:{}:{}:", static_cast<int>(op.kind), op.axes.size(), op.reduce_axes.size());
  for (const te::TensorId id : op.outputs) text += ir::name_of(dag.tensor(id).element);
  return text + ';';
}

void append_extents(const te::Op& op, std::vector<double>* log2_extents) {
  for (const auto* axes : {&op.axes, &op.reduce_axes}) {
    for (const te::Axis& axis : *axes) {
      log2_extents->push_back(std::log2(static_cast<double>(axis.extent.high)));
    }
  }
}

double distance_of(std::span<const double> one, std::span<const double> other) {
  double sum = 0;
  for (size_t k = 0; k < one.size(); ++k) sum += std::abs(one[k] - other[k]);
  return sum;
}

// Pairs of operators that do the same in two Dags.
class Matching {
 public:
  Matching(const te::Dag& from, const te::Dag& to) : from_(from), to_(to) {}

  // Also the operators that these read, in the order of their reads, as long as the kinds agree.
  void add(te::OpId from, te::OpId to) {
    const te::Op &one = from_.op(from), &other = to_.op(to);
    const auto is_paired = [&](const auto& pair) {
      return pair.first == one.name || pair.second == other.name;
    };
    if (std::ranges::any_of(pairs_, is_paired)) return;
    pairs_.emplace_back(one.name, other.name);
    const auto &read = from_.access(from).reads, &also = to_.access(to).reads;
    for (size_t k = 0; k < std::min(read.size(), also.size()); ++k) {
      const te::OpId producer = from_.tensor(read[k].tensor).op;
      const te::OpId match = to_.tensor(also[k].tensor).op;
      if (from_.op(producer).kind == to_.op(match).kind) add(producer, match);
    }
  }

  std::vector<std::pair<Name, Name>> take() { return std::move(pairs_); }

 private:
  const te::Dag &from_, &to_;
  std::vector<std::pair<Name, Name>> pairs_;
};

std::vector<te::OpId> core_of(const te::Dag& dag) {
  std::vector<te::OpId> core;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    if (dag.op(id).has_reduction()) core.push_back(id);
  }
  return core;
}

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
    form.structure += structure_of(dag, op);
    append_extents(op, &form.log2_extents);
    if (!op.has_reduction()) continue;
    const std::optional<ir::BinaryOp> combine = op.reduction->simple_op();
    form.core +=
        structure_of(dag, op) + std::string(combine ? ir::name_of(*combine) : "tuple") + ';';
    append_extents(op, &form.core_log2_extents);
  }
  return form;
}

double extent_distance(const WorkloadForm& one, const WorkloadForm& other) {
  if (one.structure != other.structure) return std::numeric_limits<double>::infinity();
  return distance_of(one.log2_extents, other.log2_extents);
}

double core_distance(const WorkloadForm& one, const WorkloadForm& other) {
  if (one.core.empty() || one.core != other.core) return std::numeric_limits<double>::infinity();
  return distance_of(one.core_log2_extents, other.core_log2_extents);
}

std::vector<std::pair<Name, Name>> matching_ops(const te::Dag& from, const te::Dag& to) {
  Matching matching(from, to);
  const auto op_count = [](const te::Dag& dag) { return static_cast<te::OpId>(dag.ops().size()); };
  const te::OpId last = op_count(from) - 1, other_last = op_count(to) - 1;
  if (form_of(from).structure == form_of(to).structure) {
    std::vector<std::pair<Name, Name>> all;
    for (te::OpId id = 0; id <= last; ++id) all.emplace_back(from.op(id).name, to.op(id).name);
    return all;
  }
  const std::vector<te::OpId> core = core_of(from), other = core_of(to);
  for (size_t k = 0; k < std::min(core.size(), other.size()); ++k) matching.add(core[k], other[k]);
  matching.add(last, other_last);
  return matching.take();
}

std::pair<Likeness, double> distance(const Workload& one, const Workload& other) {
  const WorkloadForm a = form_of(*one.dag), b = form_of(*other.dag);
  const double far = std::abs(std::log((a.flop + 1) / (b.flop + 1)));
  if (one.key() == other.key()) return {Likeness::Same, far};
  if (a.loops != b.loops) return {Likeness::Other, far};
  return {a.size_class() == b.size_class() ? Likeness::Group : Likeness::Loops, far};
}

}  // namespace tilewright
