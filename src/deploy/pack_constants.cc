#include "deploy/pack_constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstring>

#include "base/check.h"
#include "base/rounding.h"
#include "base/worker_team.h"
#include "layout/repack.h"

namespace tilewright::deploy {
namespace {

constexpr int64_t kAlignment = 64;

// All bits of the exponent are set in infinities and NaN.
template <class Word>
bool all_finite(std::span<const std::byte> bytes, Word exponent) {
  bool finite = true;
  for (size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    finite &= (word & exponent) != exponent;
  }
  return finite;
}

}  // namespace

bool is_finite(const graph::Constant& constant) {
  switch (constant.type().element) {
    case ir::Scalar::F16:
      return all_finite<uint16_t>(constant.bytes(), 0x7c00);
    case ir::Scalar::BF16:
      return all_finite<uint16_t>(constant.bytes(), 0x7f80);
    case ir::Scalar::F32:
      return all_finite<uint32_t>(constant.bytes(), 0x7f800000);
    case ir::Scalar::F64:
      return all_finite<uint64_t>(constant.bytes(), 0x7ff0000000000000);
    default:
      return true;
  }
}

int64_t ConstantPacker::place(const graph::Constant& constant, int64_t begin,
                              const std::vector<int64_t>& shape, const layout::Layout& layout) {
  const int element_bytes = ir::bytes_of(constant.type().element);
  int64_t bytes = element_bytes;
  for (const int64_t extent : shape) bytes *= extent;
  CHECK(begin >= 0 && begin + bytes <= static_cast<int64_t>(constant.bytes().size()),
        "{} bytes from {} on of a constant of {}", bytes, begin, constant.bytes().size());
  const std::span<const std::byte> part =
      constant.bytes().subspan(static_cast<size_t>(begin), static_cast<size_t>(bytes));
  const auto [found, added] = known_.emplace(
      std::pair(part.data(),
                fmt::format("{}:{}:{}", element_bytes, fmt::join(shape, "x"), layout.to_string())),
      end_);
  if (!added) return found->second;
  constants_.push_back({.bytes = part,
                        .shape = shape,
                        .layout = layout,
                        .element_bytes = element_bytes,
                        .offset = end_,
                        .owner = constant});
  end_ = round_up(end_ + layout.elements() * element_bytes, kAlignment);
  return found->second;
}

runtime::AlignedBuffer ConstantPacker::pack(int jobs) const {
  runtime::AlignedBuffer packed(end_);
  std::atomic<size_t> next = 0;
  WorkerTeam team(jobs);
  team.run([&](int) {
    for (size_t k = next.fetch_add(1); k < constants_.size(); k = next.fetch_add(1)) {
      const PackedConstant& one = constants_[k];
      std::byte* to = packed.as<std::byte>() + one.offset;
      if (one.layout.is_row_major(one.shape)) {
        std::memcpy(to, one.bytes.data(), one.bytes.size());
      } else {
        layout::repack(one.shape, one.layout, one.element_bytes, one.bytes.data(), to);
      }
    }
  });
  return packed;
}

}  // namespace tilewright::deploy
