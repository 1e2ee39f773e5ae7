#include "oracle/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "ir/element.h"
#include "oracle/element.h"
#include "oracle/input_values.h"
#include "oracle/sample_elements.h"
#include "te/rounding_bound.h"

namespace tilewright::oracle {
namespace {

// Limit of evaluated expressions when validating a reference, over all outputs: a fraction of a
// second.
constexpr double kWorkBudget = 6e6;
constexpr uint64_t kSampleSeed = 0x7461696c73;
// Factor for folds of tuples in another order than the analysis assumes.
constexpr double kAnyOrder = 4;
constexpr double kSafety = 2;     // both sides of a comparison are rounded
constexpr double kFewSafety = 4;  // factor if there are few samples
constexpr size_t kFew = 32;
constexpr double kUsual = 1e-3;  // without a bound: the usual error of single precision

struct Sample {
  double magnitude = 0;
  double error = 0;
};

struct Line {
  double absolute = 0;
  double relative = 0;
};

// The lowest line absolute + relative * magnitude above all samples, in the mean over them:
// horizontal, or with the slope of one of them. For an expected value of 0 it is at least the
// smallest error.
Line line_above(std::span<const Sample> samples) {
  Line best;
  const double min_error = std::ranges::min_element(samples, {}, &Sample::error)->error;
  double best_height = std::numeric_limits<double>::infinity();
  const auto consider = [&](double relative) {
    Line line{min_error, relative};
    double height = 0;
    for (const Sample& sample : samples) {
      line.absolute = std::max(line.absolute, sample.error - relative * sample.magnitude);
      height += relative * sample.magnitude;
    }
    height += line.absolute * static_cast<double>(samples.size());
    if (height >= best_height) return;
    best_height = height;
    best = line;
  };
  consider(0);
  for (const Sample& sample : samples) {
    if (sample.magnitude > 0) consider(sample.error / sample.magnitude);
  }
  return best;
}

Line tolerance_of(ir::Scalar type, std::span<const Sample> samples) {
  // Two numbers close to each other are stored at most one step of their type apart; that part of
  // the error is not scaled.
  const double step = ir::is_float(type) ? te::unit_of(type) : 0;
  std::vector<Sample> bounded;
  double largest = 0;
  for (const Sample& sample : samples) {
    if (!std::isfinite(sample.magnitude)) continue;
    largest = std::max(largest, sample.magnitude);
    if (!std::isfinite(sample.error)) continue;
    bounded.push_back({sample.magnitude, std::max(0.0, sample.error - step * sample.magnitude)});
  }
  Line line = bounded.empty() ? Line{kUsual * largest, kUsual} : line_above(bounded);
  const double safety = samples.size() < kFew ? kFewSafety : kSafety;
  line.absolute *= safety;
  line.relative = line.relative * safety + step;
  if (!ir::is_float(type)) {  // a value rounded to an integer may go either way
    line.absolute = type == ir::Scalar::Bool ? line.absolute : std::max(line.absolute, 1.0);
    return line;
  }
  line.absolute = std::max(line.absolute, largest * te::unit_of(type) * 0x1p-20);
  line.absolute = std::max(line.absolute, std::numeric_limits<double>::min());
  return line;
}

class Judge {
 public:
  Judge(const Workload& workload, OperandBytes operands, bool exact)
      : workload_(workload),
        operands_(operands),
        exact_(exact),
        bound_(
            *workload.dag,
            [this](te::TensorId tensor, int64_t offset) {
              const size_t k = operand_of(tensor);
              return ir::read_element(operands_[k].data(), workload_.dag->tensor(tensor).element,
                                      offset);
            },
            workload.permissions.denormals) {
    for (size_t k = 0; k < workload.operands.size(); ++k) {
      const te::TensorId tensor = workload.operands[k].tensor;
      if (by_tensor_.size() <= tensor) by_tensor_.resize(tensor + 1);
      by_tensor_[tensor] = k;
    }
  }

  // Sets the tolerance of later comparisons of output `k`.
  Status judge(size_t k, double work_budget, Tolerance& tolerance) {
    const te::TensorId id = workload_.operands[k].tensor;
    const te::Tensor& tensor = workload_.dag->tensor(id);
    Rng rng(kSampleSeed + k);
    const std::vector<int64_t> chosen = sample_elements(*workload_.dag, id, work_budget, rng);
    std::vector<te::Bounded> expected;
    std::vector<Sample> samples;
    double largest = 0;
    for (const int64_t offset : chosen) {
      expected.push_back(bound_.element(id, indices_of(tensor, offset)));
      samples.push_back({std::abs(expected.back().value), expected.back().error});
      if (std::isfinite(expected.back().value)) {
        largest = std::max(largest, std::abs(expected.back().value));
      }
    }
    for (size_t e = 0; e < chosen.size(); ++e) {
      const double actual = ir::read_element(operands_[k].data(), tensor.element, chosen[e]);
      TRY(compare(tensor, chosen[e], expected[e], actual, kUsual * largest));
    }
    if (exact_) return {};
    const Line line = tolerance_of(tensor.element, samples);
    tolerance.absolute[k] = line.absolute;
    tolerance.relative[k] = line.relative;
    return {};
  }

 private:
  size_t operand_of(te::TensorId tensor) const { return by_tensor_[tensor]; }

  // `usual`: the tolerance if there is no bound.
  Status compare(const te::Tensor& tensor, int64_t offset, const te::Bounded& expected,
                 double actual, double usual) const {
    if (actual == expected.value || (std::isnan(actual) && std::isnan(expected.value))) return {};
    const double bound = std::isfinite(expected.error) ? kAnyOrder * expected.error : usual;
    const double allowed = exact_ ? 0 : bound;
    if (std::abs(actual - expected.value) <= allowed) return {};
    return fail(ErrorKind::Build,
                fmt::format("{}: the default schedule computes {} = {}, its definition says {}{}",
                            workload_.text, print_element(tensor, offset), actual, expected.value,
                            allowed > 0 ? fmt::format(", within {:.3g}", allowed) : ""));
  }

  const Workload& workload_;
  OperandBytes operands_;
  bool exact_;
  std::vector<size_t> by_tensor_;
  te::RoundingBound bound_;
};

}  // namespace

Result<Tolerance> judge_reference(const Workload& workload, OperandBytes operands) {
  const InputPlan plan = TRY(plan_inputs(workload));
  Tolerance tolerance;
  tolerance.absolute.assign(workload.operands.size(), 0);
  tolerance.relative.assign(workload.operands.size(), 0);
  const auto outputs = std::ranges::count(workload.operands, Role::Output, &Operand::role);
  Judge judge(workload, operands, plan.exact);
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    TRY(judge.judge(k, kWorkBudget / static_cast<double>(outputs), tolerance));
  }
  return tolerance;
}

}  // namespace tilewright::oracle
