#include "sampled_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "codegen/back_ends/bound_kernel_testing.h"

namespace tilewright::testing {
namespace {

constexpr int kSamples = 24;
constexpr double kAnyOrder = 4;  // a fold of tuples in another order than RoundingBound's own

}  // namespace

SampledChecker::SampledChecker(Task task, uint64_t seed)
    : task_(std::move(task)),
      operands_(make_operands(task_.workload, seed)),
      bound_(
          *task_.workload.dag,
          [this](te::TensorId tensor, int64_t offset) {
            return element_at(operands_[operand_index(task_.workload, tensor)],
                              task_.workload.dag->tensor(tensor).element, offset);
          },
          task_.workload.permissions.denormals) {
  Rng rng(seed);
  for (int k = 0; k < kSamples; ++k) draws_.push_back(rng.next());
}

std::optional<std::string> SampledChecker::check(const schedule::LoopTree& tree,
                                                 const schedule::Trace& trace) {
  auto kernel = codegen::BoundKernel::build(task_, tree, trace, {}, /*guard_bytes=*/256);
  if (!kernel) return kernel.error().message;
  for (size_t k = 0; k < operands_.size(); ++k) {
    std::memcpy(kernel->operand(k).data(), operands_[k].data(), operands_[k].size());
  }
  kernel->set_constants();
  if (kernel->run() != 0) return "the kernel failed";
  if (!kernel->guards_intact()) return "the kernel wrote outside its buffers";
  for (const te::TensorId output : task_.workload.dag->outputs()) {
    const size_t at = operand_index(task_.workload, output);
    std::vector<uint8_t> bytes(operands_[at].size());
    std::memcpy(bytes.data(), kernel->operand(at).data(), bytes.size());
    if (auto problem = first_wrong(output, bytes)) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> SampledChecker::first_wrong(te::TensorId output,
                                                       const std::vector<uint8_t>& bytes) {
  const te::Tensor& tensor = task_.workload.dag->tensor(output);
  const auto elements = bytes.size() / static_cast<size_t>(ir::bytes_of(tensor.element));
  for (int k = 0; k < kSamples; ++k) {
    const uint64_t draw = draws_[static_cast<size_t>(k)] % elements;
    const uint64_t element = k == 0 ? 0 : k == 1 ? elements - 1 : draw;
    std::vector<int64_t> index(tensor.shape.size(), 0);
    auto rest = static_cast<int64_t>(element);
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = rest % tensor.shape[d].high;
      rest /= tensor.shape[d].high;
    }
    const te::Bounded expected = bound_.element(output, index);
    const double stored = element_at(bytes, tensor.element, static_cast<int64_t>(element));
    const double actual =
        task_.workload.permissions.denormals ? stored : ir::flush_denormal(stored, tensor.element);
    const bool same =
        actual == expected.value || (std::isnan(actual) && std::isnan(expected.value));
    if (same || std::abs(actual - expected.value) <= kAnyOrder * expected.error) continue;
    return fmt::format("element {} of {} is {}, te/eval says {}, within {}", element,
                       tensor.name.text(), actual, expected.value, expected.error);
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
