#include "codegen/back_ends/bound_kernel_testing.h"

#include "layout/repack.h"
#include "te/shape_of.h"

namespace tilewright::codegen {

Result<BoundKernel> BoundKernel::build(const Task& task, const schedule::LoopTree& tree,
                                       const schedule::Trace& trace, const BuildOptions& options,
                                       int64_t guard_bytes) {
  BuildOptions chosen = options;
  if (chosen.back_end == nullptr) chosen.back_end = TRY(back_end_for(task.target));
  const runtime::Artifact artifact = TRY(build_artifact(task, tree, trace, chosen));
  BoundKernel bound(TRY(runtime::Kernel::load(artifact, {chosen.back_end->loader, 1})));
  const runtime::AlignedBufferOptions guarded{.guard_bytes = guard_bytes};
  const auto memory_for = [&](const te::Tensor& tensor, const layout::Layout& layout) {
    return runtime::AlignedBuffer(static_cast<int64_t>(layout::bytes_of(tensor, layout)), guarded);
  };
  const te::Dag& dag = *task.workload.dag;
  bound.dag_ = task.workload.dag;
  for (const Operand& operand : task.workload.operands) {
    const te::Tensor& tensor = dag.tensor(operand.tensor);
    const std::vector<int64_t> shape = te::shape_of(tensor);
    const layout::Layout row_major = layout::Layout::row_major(shape);
    bound.elements_.push_back(row_major.elements());
    bound.row_major_.push_back(memory_for(tensor, row_major));
    bound.arguments_.push_back(bound.row_major_.back().data());
    const auto buffer = static_cast<schedule::BufferIndex>(operand.tensor);
    layout::Layout layout = schedule::layout_of(tree, buffer);
    if (layout.is_row_major(shape) && tree.buffer(buffer).packed_for == schedule::kNone) continue;
    runtime::AlignedBuffer memory = memory_for(tensor, layout);
    bound.arguments_.back() = memory.data();
    bound.packed_.push_back({.operand = bound.row_major_.size() - 1,
                             .role = operand.role,
                             .tensor = &tensor,
                             .layout = std::move(layout),
                             .buffer = std::move(memory)});
  }
  bound.threads_ = task.target.threads();
  bound.workspace_ = runtime::AlignedBuffer(bound.kernel_.workspace_bytes(bound.threads_), guarded);
  return bound;
}

void BoundKernel::set_constants() {
  for (const Packed& packed : packed_) {
    if (packed.role == Role::Constant) packed.fill(row_major_);
  }
}

void BoundKernel::Packed::fill(const std::vector<runtime::AlignedBuffer>& row_major) const {
  layout::repack(*tensor, layout, row_major[operand].data(), buffer.data());
}

bool BoundKernel::guards_intact() const {
  bool intact = !workspace_.damaged_guard();
  for (const runtime::AlignedBuffer& buffer : row_major_) intact &= !buffer.damaged_guard();
  for (const Packed& packed : packed_) intact &= !packed.buffer.damaged_guard();
  return intact;
}

int32_t BoundKernel::run() {
  for (const Packed& packed : packed_) {
    if (packed.role == Role::Input) packed.fill(row_major_);
  }
  const TilewrightCall call{.arguments = arguments_.data(),
                            .workspace = workspace_.data(),
                            .pool = nullptr,
                            .threads = threads_,
                            .reserved = 0};
  const int32_t status = kernel_(call);
  for (const Packed& packed : packed_) {
    if (packed.role != Role::Output) continue;
    layout::unpack(*packed.tensor, packed.layout, packed.buffer.data(),
                   row_major_[packed.operand].data());
  }
  return status;
}

}  // namespace tilewright::codegen
