#include "measure/mounted_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "layout/repack.h"
#include "oracle/element.h"
#include "te/shape_of.h"

namespace tilewright::measure {
namespace {

std::string_view text_of(Role role) {
  switch (role) {
    case Role::Input:
      return "input";
    case Role::Constant:
      return "constant";
    default:
      return "output";
  }
}

std::string name_of(const Workload& workload, size_t operand) {
  const Operand& info = workload.operands[operand];
  return fmt::format("{} {}", text_of(info.role), workload.dag->tensor(info.tensor).name.text());
}

// The memory of the caller has the elements of the operand contiguous and row-major. A constant
// without a layout is passed like this and packed by the schedule.
bool is_plain(const Operand& operand, const te::Tensor& tensor) {
  const layout::Layout storage = operand.storage();
  return storage.free || storage.is_row_major(te::shape_of(tensor));
}

PackedBuffer& packed_buffer_of(const Workload& workload, size_t operand, PackedBuffers& buffers) {
  const auto found = std::ranges::find(buffers, operand, &PackedBuffer::operand);
  if (found != buffers.end()) return *found;
  return buffers.emplace_back(PackedBuffer{
      .operand = operand,
      .layout = layout::Layout::undecided(),
      .memory = GuardedBuffer(fmt::format("{} (packed)", name_of(workload, operand)))});
}

}  // namespace

Result<BenchMemory> BenchMemory::make(const Workload& workload, const SharedOperands& operands) {
  BenchMemory memory;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const Operand& operand = workload.operands[k];
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    const std::span<const std::byte> given = operands.operand(k);
    GuardedBuffer& buffer = memory.operands.emplace_back(name_of(workload, k));
    const bool plain = is_plain(operand, tensor);
    TRY(buffer.resize(plain ? given.size() : layout::bytes_of(tensor, operand.storage())));
    if (operand.role == Role::Output) continue;
    if (!plain) {
      layout::repack(tensor, operand.storage(), given.data(), buffer.data());
    } else {
      std::memcpy(buffer.data(), given.data(), given.size());
    }
    buffer.set_read_only(true);
  }
  return memory;
}

std::span<const std::byte> BenchMemory::row_major(const Workload& workload, size_t k,
                                                  std::vector<std::byte>& scratch) const {
  const Operand& operand = workload.operands[k];
  const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
  if (is_plain(operand, tensor)) return operands[k].bytes();
  scratch.resize(oracle::bytes_of(tensor));
  layout::unpack(tensor, operand.storage(), operands[k].data(), scratch.data());
  return scratch;
}

std::string BenchMemory::damage_between(const Workload& workload, std::byte poison) const {
  std::vector<std::byte> placed;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const Operand& operand = workload.operands[k];
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    if (operand.role != Role::Output || is_plain(operand, tensor)) continue;
    // Ones at its elements and zeros between them.
    const std::vector<std::byte> ones(oracle::bytes_of(tensor), std::byte{1});
    placed.resize(operands[k].size());
    layout::repack(tensor, operand.storage(), ones.data(), placed.data());
    const std::span<const std::byte> found = operands[k].bytes();
    for (size_t at = 0; at < found.size(); ++at) {
      if (placed[at] != std::byte{0} || found[at] == poison) continue;
      return fmt::format("{}: written between its elements, at byte {}", name_of(workload, k), at);
    }
  }
  return {};
}

Result<MountedKernel> MountedKernel::mount(const Task& task, const BuiltKernel& kernel,
                                           BenchMemory& memory, PackedBuffers& packed,
                                           std::span<const runtime::Loader> loaders) {
  MountedKernel mounted(TRY(runtime::Kernel::load(kernel.artifact, loaders)));
  mounted.workload_ = &task.workload;
  mounted.memory_ = &memory;
  mounted.threads_ = task.target.threads();
  for (const GuardedBuffer& operand : memory.operands) mounted.buffers_.push_back(&operand);
  packed.reserve(task.workload.operands.size());  // pointers to the buffers must stay valid
  for (const PackedOperand& operand : kernel.packed) {
    TRY(mounted.pack(task.workload, operand, packed));
  }
  for (const GuardedBuffer* buffer : mounted.buffers_) mounted.arguments_.push_back(buffer->data());
  const int64_t workspace = mounted.kernel_.workspace_bytes(mounted.threads_);
  if (workspace < 0) return fail(ErrorKind::Build, "object file: a negative size of workspace");
  mounted.workspace_bytes_ = static_cast<size_t>(workspace);
  TRY(memory.workspace.resize(mounted.workspace_bytes_));
  return mounted;
}

Status MountedKernel::pack(const Workload& workload, const PackedOperand& packed,
                           PackedBuffers& buffers) {
  const bool known = packed.operand < workload.operands.size();
  if (!known || workload.operands[packed.operand].role != Role::Constant) {
    return fail(
        ErrorKind::Build,
        fmt::format("operand {} of the kernel is packed but not a constant", packed.operand));
  }
  const te::Tensor& tensor = workload.dag->tensor(workload.operands[packed.operand].tensor);
  if (packed.layout.free || !packed.layout.holds(te::shape_of(tensor))) {
    return fail(ErrorKind::Build,
                fmt::format("{} does not fit into its layout {}", name_of(workload, packed.operand),
                            packed.layout.to_string()));
  }
  PackedBuffer& buffer = packed_buffer_of(workload, packed.operand, buffers);
  buffers_[packed.operand] = &buffer.memory;
  if (buffer.layout == packed.layout) return {};
  buffer.layout = layout::Layout::undecided();
  TRY(buffer.memory.resize(layout::bytes_of(tensor, packed.layout)));
  layout::repack(tensor, packed.layout, memory_->operands[packed.operand].data(),
                 buffer.memory.data());
  buffer.memory.set_read_only(true);
  buffer.layout = packed.layout;
  return {};
}

double MountedKernel::time(int64_t calls, int32_t* status) const {
  const TilewrightCall call{
      .arguments = arguments_.data(),
      .workspace = workspace_bytes_ == 0 ? nullptr : memory_->workspace.data(),
      .pool = nullptr,
      .threads = threads_,
      .reserved = 0};
  return kernel_.time(call, calls, status);
}

std::string MountedKernel::damage() const {
  for (const GuardedBuffer* buffer : buffers_) {
    if (std::string damage = buffer->damage(); !damage.empty()) return damage;
  }
  // Including operands that the kernel does not get.
  for (const GuardedBuffer& buffer : memory_->operands) {
    if (std::string damage = buffer.damage(); !damage.empty()) return damage;
  }
  return memory_->workspace.damage();
}

std::vector<std::span<const std::byte>> MountedKernel::touched() const {
  std::vector<std::span<const std::byte>> memory;
  memory.reserve(buffers_.size() + 1);
  for (const GuardedBuffer* buffer : buffers_) memory.emplace_back(buffer->bytes());
  memory.emplace_back(memory_->workspace.bytes());
  return memory;
}

std::vector<std::span<const std::byte>> MountedKernel::constants() const {
  std::vector<std::span<const std::byte>> memory;
  for (size_t k = 0; k < buffers_.size(); ++k) {
    if (workload_->operands[k].role == Role::Constant) memory.emplace_back(buffers_[k]->bytes());
  }
  return memory;
}

}  // namespace tilewright::measure
