#include "sample_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "te/eval.h"

namespace tilewright::bench {
namespace {

constexpr int kRandomSamples = 14;
constexpr double kTolerance = 1e-4;

// Row-major offset -> indices: 7 of [2, 5] -> [1, 2].
std::vector<int64_t> indices_of(int64_t offset, const std::vector<te::Extent>& shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    CHECK(shape[d].is_constant(), "an extent of a workload that is timed is a number");
    indices[d] = offset % shape[d].high;
    offset /= shape[d].high;
  }
  return indices;
}

std::vector<int64_t> sampled_offsets(int64_t elements, Rng& rng) {
  std::vector<int64_t> offsets = {0, elements - 1};
  for (int k = 0; k < kRandomSamples; ++k) offsets.push_back(rng.between(0, elements - 1));
  return offsets;
}

// The largest magnitude; numbers that are not finite count as nothing.
double largest_of(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

}  // namespace

std::optional<std::string> find_wrong_sample(const Workload& workload,
                                             codegen::BoundKernel& kernel) {
  std::map<te::TensorId, const float*> data;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    data[workload.operands[k].tensor] = kernel.operand(k).as<float>();
  }
  te::Evaluator definition(*workload.dag, [&](te::TensorId tensor, int64_t offset) {
    return double{data.at(tensor)[offset]};
  });
  Rng rng(1);
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    const te::TensorId id = workload.operands[k].tensor;
    const te::Tensor& tensor = workload.dag->tensor(id);
    const std::span<const float> got(data.at(id), static_cast<size_t>(kernel.operand_elements(k)));
    const double largest = largest_of(got);
    for (const int64_t offset : sampled_offsets(kernel.operand_elements(k), rng)) {
      const std::vector<int64_t> indices = indices_of(offset, tensor.shape);
      const double wanted = definition.element(id, indices);
      const double value = got[static_cast<size_t>(offset)];
      const double allowed = kTolerance * std::max(largest, std::abs(wanted));
      if (std::abs(value - wanted) <= allowed) continue;
      return fmt::format("{}[{}] is {:.6g} where the definition gives {:.6g}", tensor.name.text(),
                         fmt::join(indices, ", "), value, wanted);
    }
  }
  return {};
}

}  // namespace tilewright::bench
