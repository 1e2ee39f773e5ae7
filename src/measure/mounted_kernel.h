// BenchMemory: the operands and the workspace of one workload, guarded. Operands lie where
// Operand::storage says: in their layout, or within the larger array that they are a part of;
// constants are row-major. MountedKernel: a
// loaded kernel with its constants packed, ready to be called on that memory. Not to be shared
// between threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/built_kernel.h"
#include "measure/guarded_memory.h"
#include "measure/shared_operands.h"
#include "task/workload.h"

namespace tilewright::measure {

struct BenchMemory {
  std::vector<GuardedBuffer> operands;  // of Workload::operands
  GuardedBuffer workspace{"workspace"};

  static Result<BenchMemory> make(const Workload& workload, const SharedOperands& operands);
  // The elements of operand k side by side: where it lies, or gathered into `scratch`.
  std::span<const std::byte> row_major(const Workload& workload, size_t k,
                                       std::vector<std::byte>& scratch) const;
  // Of outputs with gaps between elements: `output Y: ...` where bytes between its elements are no
  // longer `poison`; else nothing.
  std::string damage_between(const Workload& workload, std::byte poison) const;
};

// One constant as a schedule lays it out. Kept between candidates: the same layout is not packed
// again.
struct PackedBuffer {
  size_t operand = 0;
  layout::Layout layout;  // of what it holds; free: of nothing yet
  GuardedBuffer memory;
};
using PackedBuffers = std::vector<PackedBuffer>;

class MountedKernel {
 public:
  // Loads, packs and sizes the workspace. `memory` and `packed` outlive it; a later mount on the
  // same `packed` ends its use. Errors: of kind Build when the object cannot be loaded, else no
  // memory.
  static Result<MountedKernel> mount(const Task& task, const BuiltKernel& kernel,
                                     BenchMemory& memory, PackedBuffers& packed,
                                     std::span<const runtime::Loader> loaders);

  // Nanoseconds of `calls` calls, by the clock of its loader; failures are or-ed into `status`.
  double time(int64_t calls, int32_t* status) const;
  size_t workspace_bytes() const { return workspace_bytes_; }

  // Of operands, packed constants and workspace: the first guard zone that was overwritten, or
  // nothing.
  std::string damage() const;

  // What a call touches, and the constants among it.
  std::vector<std::span<const std::byte>> touched() const;
  std::vector<std::span<const std::byte>> constants() const;

 private:
  explicit MountedKernel(runtime::Kernel kernel) : kernel_(std::move(kernel)) {}
  Status pack(const Workload& workload, const PackedOperand& packed, PackedBuffers& buffers);

  runtime::Kernel kernel_;
  const Workload* workload_ = nullptr;
  BenchMemory* memory_ = nullptr;
  std::vector<const GuardedBuffer*> buffers_;  // one per argument: as it is, or packed
  std::vector<void*> arguments_;
  size_t workspace_bytes_ = 0;
  int threads_ = 1;
};

}  // namespace tilewright::measure
