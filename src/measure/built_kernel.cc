#include "measure/built_kernel.h"

namespace tilewright::measure {

std::vector<PackedOperand> packed_operands(const Workload& workload,
                                           const schedule::LoopTree& tree) {
  std::vector<PackedOperand> packed;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const auto buffer = static_cast<schedule::BufferIndex>(workload.operands[k].tensor);
    if (tree.buffer(buffer).packed_for == schedule::kNone) continue;
    packed.push_back({static_cast<uint32_t>(k), schedule::layout_of(tree, buffer)});
  }
  return packed;
}

}  // namespace tilewright::measure
