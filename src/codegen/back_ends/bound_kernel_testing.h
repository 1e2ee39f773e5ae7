// BoundKernel: a kernel bound to private buffers, one per operand in the order of the workload, for
// tests and benchmarks. Constants are given row-major and packed once, by set_constants. Operands
// that are parts of larger arrays are also given row-major, and copied. Not thread-safe.
//
//   BoundKernel kernel = must(BoundKernel::build(task, tree, trace));
//   kernel.operand(0).as<float>()[0] = 1;
//   kernel.set_constants();
//   kernel.run();   // 0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "codegen/back_ends/build_kernel.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::codegen {

class BoundKernel {
 public:
  // `guard_bytes`: around each buffer, checked by guards_intact.
  static Result<BoundKernel> build(const Task& task, const schedule::LoopTree& tree,
                                   const schedule::Trace& trace, const BuildOptions& options = {},
                                   int64_t guard_bytes = 0);

  // Row-major memory of an operand. For a constant, write it and then call set_constants.
  runtime::AlignedBuffer& operand(size_t index) { return row_major_[index]; }
  int64_t operand_elements(size_t index) const { return elements_[index]; }
  // The pointer passed to the kernel.
  void* argument(size_t index) const { return arguments_[index]; }
  void set_constants();        // packs; call it once constants are written
  int32_t run();               // status of the kernel
  bool guards_intact() const;  // no write directly outside operands and workspace

 private:
  BoundKernel(runtime::Kernel kernel) : kernel_(std::move(kernel)) {}

  runtime::Kernel kernel_;
  std::shared_ptr<const te::Dag> dag_;
  std::vector<runtime::AlignedBuffer> row_major_;
  std::vector<int64_t> elements_;
  struct Packed {
    size_t operand;
    Role role;
    const te::Tensor* tensor;  // of dag_
    layout::Layout layout;
    runtime::AlignedBuffer buffer;

    void fill(const std::vector<runtime::AlignedBuffer>& row_major) const;
  };
  std::vector<Packed> packed_;
  std::vector<void*> arguments_;
  runtime::AlignedBuffer workspace_;
  int threads_ = 1;
};

}  // namespace tilewright::codegen
