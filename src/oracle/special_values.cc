#include "oracle/special_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

#include "ir/element.h"
#include "ir/visit.h"
#include "oracle/element.h"
#include "oracle/sample_elements.h"
#include "te/rounding_bound.h"

namespace tilewright::oracle {
namespace {

constexpr uint64_t kSeed = 0x6e616e;
constexpr int64_t kFewElements = 8;
constexpr int64_t kDenormalShare = 16;  // one in 16 elements, within the limits
constexpr int64_t kMaxDenormals = 256;
constexpr double kAnyOrder = 4;      // as in oracle/expectation.cc
constexpr double kWorkBudget = 2e5;  // evaluated expressions, over all outputs
constexpr double kMaxSamples = 32;   // per output
constexpr int64_t kBlock = 1024;     // elements
// The rest of a denormal times a number of the first set, and sums of it.
constexpr double kDenormalReach = 0x1p30;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The tensors whose values decide which element is read, or divide an integer.
class SteeringTensors : public ir::Visitor {
 public:
  explicit SteeringTensors(const te::Dag& dag) : steers_(dag.tensors().size()) {
    // Readers come after their operands.
    for (size_t k = dag.ops().size(); k-- > 0;) {
      const te::Op& op = dag.ops()[k];
      const bool steers = std::ranges::any_of(
          op.outputs, [&](te::TensorId id) { return static_cast<bool>(steers_[id]); });
      for (const ir::Expr& body : op.body) {
        if (steers) mark_loads(body);
        visit(body);
      }
      if (!op.reduction) continue;
      for (const ir::Expr& combine : op.reduction->combine) visit(combine);
    }
  }
  bool contains(te::TensorId tensor) const { return steers_[tensor]; }

  using ir::Visitor::visit;
  void visit(const ir::Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) {
      for (const ir::Expr& index : load->indices) mark_loads(index);
    }
    const auto* binary = expr.as<ir::Binary>();
    if (binary != nullptr && ir::is_integer(binary->type) && divides(binary->op)) {
      mark_loads(binary->b);
    }
    ir::Visitor::visit(expr);
  }

 private:
  static bool divides(ir::BinaryOp op) {
    using enum ir::BinaryOp;
    return op == Div || op == Mod || op == ShiftLeft || op == ShiftRight;
  }

  void mark_loads(const ir::Expr& expr) {
    if (const auto* load = expr.as<ir::Load>()) steers_[load->buffer] = true;
    ir::for_each_child(expr, [&](const ir::Expr& child) { mark_loads(child); });
  }

  std::vector<bool> steers_;
};

double denormal_of(ir::Scalar type) { return ir::min_normal(type) * 0.375; }

// Values for places in random order. Denormals of F16 are ordinary numbers (ir/type.h).
std::vector<double> values_for(ir::Scalar type, int64_t elements, bool winograd) {
  std::vector<double> values;
  if (!winograd) values = {kNan, kInfinity, -kInfinity};
  if (type == ir::Scalar::F16) return values;
  const int64_t denormals = std::clamp<int64_t>(elements / kDenormalShare, 1, kMaxDenormals);
  for (int64_t k = 0; k < denormals; ++k) {
    values.push_back(k % 2 == 0 ? denormal_of(type) : -denormal_of(type));
  }
  return values;
}

using Overlay = std::vector<std::unordered_map<int64_t, double>>;  // per operand, by offset

// Both are denormal or zero where those count as zero.
bool are_same(double a, double b, ir::Scalar type, bool denormals) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || (!denormals && ir::flush_denormal(a, type) == ir::flush_denormal(b, type));
}

// The elements of an output that differ between the two sets of inputs, at most `limit`, spread
// over all of them.
std::vector<int64_t> changed_elements(const te::Tensor& tensor, std::span<const std::byte> before,
                                      std::span<const std::byte> after, size_t limit) {
  std::vector<int64_t> changed;
  const int64_t elements = elements_of(tensor);
  const int64_t bytes = ir::bytes_of(tensor.element);
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, elements);
    const auto size = static_cast<size_t>((end - begin) * bytes);
    if (std::memcmp(before.data() + begin * bytes, after.data() + begin * bytes, size) == 0) {
      continue;
    }
    for (int64_t e = begin; e < end; ++e) {
      const auto at = static_cast<size_t>(e * bytes);
      if (std::memcmp(before.data() + at, after.data() + at, static_cast<size_t>(bytes)) != 0) {
        changed.push_back(e);
      }
    }
  }
  if (changed.size() <= limit) return changed;
  std::vector<int64_t> some;
  some.reserve(limit);
  for (size_t k = 0; k < limit; ++k) some.push_back(changed[k * changed.size() / limit]);
  return some;
}

}  // namespace

std::vector<SpecialValue> special_values(const Workload& workload) {
  const SteeringTensors steering(*workload.dag);
  std::vector<SpecialValue> all;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const Operand& operand = workload.operands[k];
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    const int64_t elements = elements_of(tensor);
    const bool plain = operand.role == Role::Input && ir::is_float(tensor.element) &&
                       operand.storage().is_row_major(te::shape_of(tensor));
    if (!plain || elements < kFewElements || steering.contains(operand.tensor)) continue;
    Rng rng(kSeed + k);
    std::map<int64_t, double> places;
    for (const double value : values_for(tensor.element, elements, workload.permissions.winograd)) {
      // First the two ends, where tails go wrong.
      int64_t offset = places.empty() ? elements - 1 : 0;
      while (places.contains(offset)) {
        offset = static_cast<int64_t>(rng.below(static_cast<uint64_t>(elements)));
      }
      places.emplace(offset, value);
    }
    for (const auto& [offset, value] : places) all.push_back({k, offset, value});
  }
  return all;
}

Tolerance special_tolerance(const Workload& workload, const Tolerance& usual) {
  Tolerance tolerance = usual;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const ir::Scalar type = workload.dag->tensor(workload.operands[k].tensor).element;
    if (workload.operands[k].role != Role::Output || !ir::is_float(type)) continue;
    tolerance.absolute[k] =
        std::max(tolerance.absolute[k], kDenormalReach * ir::min_normal(ir::Scalar::F32));
  }
  return tolerance;
}

Status judge_special(const Workload& workload, OperandBytes operands, OperandBytes outputs) {
  const te::Dag& dag = *workload.dag;
  const bool denormals = workload.permissions.denormals;
  const std::vector<SpecialValue> values = special_values(workload);
  if (values.empty()) return {};
  Overlay overlay(workload.operands.size());
  for (const SpecialValue& one : values) overlay[one.operand][one.offset] = one.value;
  std::vector<size_t> by_tensor(dag.tensors().size());
  for (size_t k = 0; k < workload.operands.size(); ++k) by_tensor[workload.operands[k].tensor] = k;
  te::RoundingBound bound(
      dag,
      [&](te::TensorId id, int64_t offset) {
        const size_t k = by_tensor[id];
        const auto special = overlay[k].find(offset);
        if (special != overlay[k].end()) return special->second;
        return ir::read_element(operands[k].data(), dag.tensor(id).element, offset);
      },
      denormals);
  const auto count = std::ranges::count(workload.operands, Role::Output, &Operand::role);
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    const te::TensorId id = workload.operands[k].tensor;
    const te::Tensor& tensor = dag.tensor(id);
    const double work = work_of_element(dag, id) * static_cast<double>(count);
    const double samples = std::clamp(kWorkBudget / std::max(work, 1.0), 1.0, kMaxSamples);
    for (const int64_t offset :
         changed_elements(tensor, operands[k], outputs[k], static_cast<size_t>(samples))) {
      const te::Bounded expected = bound.element(id, indices_of(tensor, offset));
      const double actual = ir::read_element(outputs[k].data(), tensor.element, offset);
      if (are_same(actual, expected.value, tensor.element, denormals) ||
          !std::isfinite(expected.error) ||
          std::abs(actual - expected.value) <= kAnyOrder * expected.error) {
        continue;
      }
      return fail(ErrorKind::Build,
                  fmt::format("{}: with NaN, infinities and denormals in its inputs, the default "
                              "schedule computes {} = {}, its definition says {}",
                              workload.text, print_element(tensor, offset), print_value(actual),
                              print_value(expected.value)));
    }
  }
  return {};
}

}  // namespace tilewright::oracle
