// LoopTree -> artifact or callable kernel: runs the passes, compiler and loader of a back end in
// one call, and provides a kernel with memory for its operands.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "lower/pipeline.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::codegen {

struct BuildOptions {
  const BackEnd* back_end = nullptr;  // null: the first one that serves the target
  lower::LowerOptions lower{};        // the passes are replaced by those of the back end
  CompileOptions compile{};
  int64_t guard_bytes = 0;  // around each buffer of a BoundKernel, checked by guards_intact
};

// Lowers with the passes of the back end.
Result<ir::Function> lower_for(const BackEnd& back_end, const Task& task,
                               const schedule::LoopTree& tree, const schedule::Trace& trace,
                               lower::LowerOptions options = {});

Result<runtime::Artifact> build_artifact(const Task& task, const schedule::LoopTree& tree,
                                         const schedule::Trace& trace,
                                         const BuildOptions& options = {});

// A kernel bound to private buffers, one per operand in the order of the workload. Constants are
// given row-major and packed once, by set_constants. Operands that are parts of larger arrays are
// also given row-major, and copied. Not thread-safe.
class BoundKernel {
 public:
  static Result<BoundKernel> build(const Task& task, const schedule::LoopTree& tree,
                                   const schedule::Trace& trace, const BuildOptions& options = {});

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
