// find_difference: a fast pass over blocks that are probably correct, and an exact pass over the
// others.
#include "oracle/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "ir/element.h"
#include "oracle/element.h"

namespace tilewright::oracle {
namespace {

constexpr int64_t kBlock = 1024;  // elements

struct Allowed {
  double absolute = 0;
  double relative = 0;
  bool denormals = false;  // they are not zeros
};

// Equal values are correct, including -0 and 0, denormals that count as zero, and NaN where NaN is
// expected.
bool is_right(ir::Scalar type, double expected, double actual, const Allowed& allowed) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
  if (!allowed.denormals &&
      ir::flush_denormal(actual, type) == ir::flush_denormal(expected, type)) {
    return true;
  }
  if (!std::isfinite(expected)) return false;
  return std::abs(actual - expected) <= allowed.absolute + allowed.relative * std::abs(expected);
}

// True: the whole block is correct. False: unknown (NaN, infinity, close to the tolerance).
template <class Float>
bool looks_right(const Float* expected, const Float* actual, const Allowed& allowed) {
  const auto absolute = static_cast<Float>(allowed.absolute);
  const auto relative = static_cast<Float>(allowed.relative);
  int wrong = 0;
  for (int64_t k = 0; k < kBlock; ++k) {
    const Float apart = std::abs(actual[k] - expected[k]);
    const Float limit = absolute + relative * std::abs(expected[k]);
    wrong += apart <= limit && limit <= std::numeric_limits<Float>::max() ? 0 : 1;
  }
  return wrong == 0;
}

bool block_looks_right(ir::Scalar type, const std::byte* expected, const std::byte* actual,
                       int64_t elements, const Allowed& allowed) {
  if (std::memcmp(expected, actual, static_cast<size_t>(elements * ir::bytes_of(type))) == 0) {
    return true;
  }
  if (allowed.absolute == 0 || elements != kBlock) return false;
  if (type == ir::Scalar::F32) {
    return looks_right(reinterpret_cast<const float*>(expected),
                       reinterpret_cast<const float*>(actual), allowed);
  }
  if (type == ir::Scalar::F64) {
    return looks_right(reinterpret_cast<const double*>(expected),
                       reinterpret_cast<const double*>(actual), allowed);
  }
  return false;
}

}  // namespace

std::string find_difference(const Workload& workload, size_t operand, const Tolerance& tolerance,
                            std::span<const std::byte> expected,
                            std::span<const std::byte> actual) {
  const te::Tensor& tensor = workload.dag->tensor(workload.operands[operand].tensor);
  CHECK(expected.size() == bytes_of(tensor) && actual.size() == expected.size(),
        "{} and {} bytes of {}", expected.size(), actual.size(), tensor.name.text());
  const Allowed allowed{tolerance.absolute[operand], tolerance.relative[operand],
                        workload.permissions.denormals};
  const int64_t elements = elements_of(tensor);
  const int64_t bytes = ir::bytes_of(tensor.element);
  const bool by_bytes = allowed.absolute == 0 && !ir::is_float(tensor.element);
  int64_t wrong = 0, first = 0;
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, elements);
    if (block_looks_right(tensor.element, expected.data() + begin * bytes,
                          actual.data() + begin * bytes, end - begin, allowed)) {
      continue;
    }
    for (int64_t k = begin; k < end; ++k) {
      const bool right =
          by_bytes ? std::memcmp(expected.data() + k * bytes, actual.data() + k * bytes,
                                 static_cast<size_t>(bytes)) == 0
                   : is_right(tensor.element, ir::read_element(expected.data(), tensor.element, k),
                              ir::read_element(actual.data(), tensor.element, k), allowed);
      if (right) continue;
      if (wrong++ == 0) first = k;
    }
  }
  if (wrong == 0) return {};
  return fmt::format(
      "{} is {}, expected {}; {} of {} elements are wrong", print_element(tensor, first),
      print_value(ir::read_element(actual.data(), tensor.element, first)),
      print_value(ir::read_element(expected.data(), tensor.element, first)), wrong, elements);
}

}  // namespace tilewright::oracle
