// BenchMemory: the operands and the workspace of one workload, guarded. Operands are stored as
// Operand::storage describes: in their layout, or within the larger array that they are a part of.
// Constants are row-major.
//
// MountedKernel: a loaded kernel with its constants packed, ready to be called on that memory.
//
// Not thread-safe.
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
  std::vector<GuardedBuffer> operands;  // one per Workload::operands
  GuardedBuffer workspace{"workspace"};

  static Result<BenchMemory> make(const Workload& workload, const SharedOperands& operands);
  // The contiguous elements of operand k: in place, or gathered into `scratch`.
  std::span<const std::byte> row_major(const Workload& workload, size_t k,
                                       std::vector<std::byte>& scratch) const;
  // Checks the gaps between the elements of outputs: `output Y: ...` if bytes there are no longer
  // `poison`; otherwise empty.
  std::string damage_between(const Workload& workload, std::byte poison) const;
};

// One constant in the layout of a schedule. Kept between candidates: the same layout is not packed
// again.
struct PackedBuffer {
  size_t operand = 0;
  layout::Layout layout;  // layout of its content; free: no content yet
  GuardedBuffer memory;
};
using PackedBuffers = std::vector<PackedBuffer>;

class MountedKernel {
 public:
  // Loads the artifact, packs constants and sizes the workspace. `memory` and `packed` outlive it;
  // a later mount on the same `packed` invalidates it. An error of kind Build if the artifact
  // cannot be loaded; otherwise out of memory.
  static Result<MountedKernel> mount(const Task& task, const BuiltKernel& kernel,
                                     BenchMemory& memory, PackedBuffers& packed,
                                     std::span<const runtime::Loader> loaders);

  // Nanoseconds for `calls` calls, by the clock of its loader. Failures are or-ed into `status`.
  double time(int64_t calls, int32_t* status) const;
  size_t workspace_bytes() const { return workspace_bytes_; }

  // The first damaged guard zone of operands, packed constants and workspace; empty: none.
  std::string damage() const;

  // The memory that a call touches, and the constants within it.
  std::vector<std::span<const std::byte>> touched() const;
  std::vector<std::span<const std::byte>> constants() const;

 private:
  explicit MountedKernel(runtime::Kernel kernel) : kernel_(std::move(kernel)) {}
  Status pack(const Workload& workload, const PackedOperand& packed, PackedBuffers& buffers);

  runtime::Kernel kernel_;
  const Workload* workload_ = nullptr;
  BenchMemory* memory_ = nullptr;
  std::vector<const GuardedBuffer*> buffers_;  // one per argument, plain or packed
  std::vector<void*> arguments_;
  size_t workspace_bytes_ = 0;
  int threads_ = 1;
};

}  // namespace tilewright::measure
