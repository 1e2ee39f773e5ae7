#include "target/capability.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "target/target.h"

namespace tilewright {
namespace {

struct Row {
  Capability capability;
  std::optional<Feature> feature;  // for x86-64; none: no x86-64 has it
  // The first device that has it; none: no device has it.
  std::optional<ComputeCapability> cuda = {};
};

constexpr std::array<Row, kCapabilityCount> kRows = {{
    {.capability = Capability::DotU8I8Lanes16, .feature = Feature::Avx512vnni},
    {.capability = Capability::DotBf16Lanes16, .feature = Feature::Avx512bf16},
    {.capability = Capability::MaskedLanes, .feature = Feature::Avx512vl},
}};

constexpr bool rows_are_ordered() {
  for (size_t k = 0; k < kRows.size(); ++k) {
    if (static_cast<size_t>(kRows[k].capability) != k) return false;
  }
  return true;
}
static_assert(rows_are_ordered());

const Row& row(Capability capability) { return kRows[static_cast<size_t>(capability)]; }

}  // namespace

bool Target::has(Capability capability) const {
  const Row& needed = row(capability);
  if (const CudaTarget* device = cuda())
    return needed.cuda && device->capability.includes(*needed.cuda);
  return needed.feature && has(*needed.feature);
}

std::string requirement_text(Capability capability, const Target& target) {
  const Row& needed = row(capability);
  if (target.cuda() != nullptr && needed.cuda) {
    return fmt::format("compute capability {}{}", needed.cuda->text(),
                       needed.cuda->specific ? "" : " or later");
  }
  if (target.cpu() != nullptr && needed.feature) {
    return fmt::format("the CPU feature {}", feature_text(*needed.feature));
  }
  return "instructions that no target of this kind has";
}

}  // namespace tilewright
