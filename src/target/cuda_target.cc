#include "target/cuda_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"

namespace tilewright {
namespace {

struct Row {
  int major;
  int minor;
  bool has_specific;  // there is an sm_NNa
  CudaLimits limits;
};

// The differences between them: shared memory per SM and per block, threads and blocks per SM.
constexpr CudaLimits limits(int64_t sm_kib, int64_t block_kib, int threads, int blocks) {
  return {.shared_bytes_opt_in = block_kib << 10,
          .shared_bytes_per_sm = sm_kib << 10,
          .threads_per_sm = threads,
          .blocks_per_sm = blocks};
}

constexpr std::array kRows = {
    Row{7, 5, false, limits(64, 64, 1024, 16)},   Row{8, 0, false, limits(164, 163, 2048, 32)},
    Row{8, 6, false, limits(100, 99, 1536, 16)},  Row{8, 7, false, limits(164, 163, 1536, 16)},
    Row{8, 9, false, limits(100, 99, 1536, 24)},  Row{9, 0, true, limits(228, 227, 2048, 32)},
    Row{10, 0, true, limits(228, 227, 2048, 32)}, Row{10, 3, true, limits(228, 227, 2048, 32)},
    Row{12, 0, true, limits(100, 99, 1536, 24)},
};

const Row* find_row(const ComputeCapability& capability) {
  const auto found = std::ranges::find_if(kRows, [&](const Row& row) {
    return row.major == capability.major && row.minor == capability.minor;
  });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace

std::string ComputeCapability::text() const {
  return fmt::format("sm_{}{}{}", major, minor, specific ? "a" : "");
}

Result<ComputeCapability> parse_compute_capability(std::string_view text) {
  for (const Row& row : kRows) {
    ComputeCapability capability{.major = row.major, .minor = row.minor};
    if (capability.text() == text) return capability;
    capability.specific = true;
    if (row.has_specific && capability.text() == text) return capability;
  }
  std::string known;
  for (const Row& row : kRows) {
    known += fmt::format("{}sm_{}{}{}", known.empty() ? "" : ", ", row.major, row.minor,
                         row.has_specific ? "[a]" : "");
  }
  return fail(ErrorKind::BadInput,
              fmt::format("'{}' is not a compute capability; known: {}", text, known));
}

const CudaLimits& CudaTarget::limits() const {
  const Row* row = find_row(capability);
  CHECK(row != nullptr, "no limits are known of {}", capability.text());
  return row->limits;
}

int64_t CudaTarget::bytes(MemoryScope scope) const {
  switch (scope) {
    case MemoryScope::Shared:
      return limits().shared_bytes_opt_in;
    case MemoryScope::Local:
      return limits().local_bytes_per_thread;
    case MemoryScope::Register:
      return int64_t{limits().registers_per_thread} * 4;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace tilewright
