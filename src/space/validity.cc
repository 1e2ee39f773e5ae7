#include "space/validity.h"

#include <algorithm>
#include <array>

#include "base/rounding.h"
#include "schedule/apply.h"
#include "schedule/launch_limits.h"
#include "te/iterations.h"

namespace tilewright::space {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

// Accumulators beyond the registers are spilled: a few cost little, more than this never pay.
constexpr int64_t kSumsOfTwoRegisters = 3;
constexpr int64_t kMaxVectors = 16;  // of a vectorized loop: they are written out, so code grows
constexpr double kElementsForThreads = 16;  // per thread
constexpr double kWorthThreads = 200e3;     // FLOP; below, starting threads costs as much
constexpr int64_t kCachesOfScope = 4;       // multiple of the L2 cache
constexpr int64_t kMinScope = int64_t{32} << 20;
constexpr int64_t kRootShare = 2;  // divisor of the memory
constexpr int64_t kMaxUsefulInstructions = 4096;
constexpr int64_t kTimesPlain = 8;  // the same as a multiple of the unscheduled program

int64_t bytes_of(const LoopTree& tree, const Stage& stage) {
  int64_t bytes = 0;
  for (int k = 0; k < stage.buffers; ++k) {
    const Buffer& buffer = tree.buffer(static_cast<BufferIndex>(stage.first_buffer + k));
    if (buffer.is_argument) continue;
    int64_t size = ir::bytes_of(buffer.element);
    for (const int64_t extent : buffer.extent) {
      if (__builtin_mul_overflow(size, extent, &size)) return INT64_MAX / 4;
    }
    bytes += std::min(size, INT64_MAX / 4);
  }
  return std::min(bytes, INT64_MAX / 4);
}

bool has_small_divisor(int64_t value) {
  constexpr int64_t kDivisors[] = {2, 3, 5, 7, 11, 13};
  return std::ranges::any_of(kDivisors, [&](int64_t d) { return value % d == 0; });
}

}  // namespace

int64_t code_limit(const LoopTree& initial, int vector_bytes) {
  LoopTree plain;
  if (apply(initial, {}, &plain)) return kMaxInstructions;
  return std::max(kMaxUsefulInstructions,
                  kTimesPlain * estimated_instructions(plain, vector_bytes));
}

std::string_view text_of(RejectReason rejected) {
  switch (rejected) {
    case RejectReason::No:
      return "fit";
    case RejectReason::Registers:
      return "more accumulators than registers hold";
    case RejectReason::VectorLength:
      return "a vector of one lane or of too many";
    case RejectReason::ScopeSize:
      return "buffers that no cache holds";
    case RejectReason::Threads:
      return "threads without work";
    case RejectReason::CodeSize:
      return "code that takes long to compile";
    case RejectReason::MemorySize:
      return "buffers that their memory does not hold";
    case RejectReason::Launch:
      return "more blocks or threads than a launch has";
  }
  return "";
}

Validity::Validity(const Task& task, const LoopTree& initial, const Machine& machine)
    : target_(task.target), code_limit_(code_limit(initial, task.target.vector_bytes())) {
  scope_limit_ = std::max({kCachesOfScope * machine.cache_bytes(2),
                           machine.cache_bytes(3) / std::max(1, target_.threads()), kMinScope});
  root_limit_ = machine.memory_bytes > 0 ? machine.memory_bytes / kRootShare : INT64_MAX;
  const te::Dag& dag = *task.workload.dag;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    const double elements = te::trip_count(dag.op(id).axes);
    // A long reduction with few results may be faster on one thread, or as partial results.
    wants_threads_.push_back(target_.threads() > 1 &&
                             elements >= kElementsForThreads * target_.threads() &&
                             dag.flop(id) > kWorthThreads);
  }
}

int64_t Validity::lanes_of(const LoopTree& tree, const Stage& stage) const {
  // Accumulators have the type of the fold, which f16 and bf16 are not.
  const te::Op& op = tree.dag->op(stage.op);
  const bool folds =
      op.has_reduction() && (stage.kind == StageKind::Compute || stage.kind == StageKind::Partial);
  const ir::Scalar element =
      folds ? op.reduction->identity[0].type().scalar : tree.buffer(stage.first_buffer).element;
  const int bytes = ir::bytes_of(element);
  return std::max(1, target_.lanes(std::max(1, bytes)));
}

// The live accumulator vectors of the innermost reduce loop: everything that is unrolled inside it.
// With other loops between, accumulators go through memory and need no registers.
bool Validity::accumulators_fit(const LoopTree& tree, const Stage& stage) const {
  int64_t sums = 1;
  for (size_t k = stage.loops.size(); k-- > 0;) {
    const LoopVar& var = tree.var(stage.loops[k]);
    if (var.extent == 1) continue;
    const IntrinsicAxis axis = tree.intrinsic_axis(stage, k);
    const bool is_vector = var.annotation == Annotation::Vectorize || axis == IntrinsicAxis::Lane;
    const bool written_out = var.annotation == Annotation::Unroll || axis == IntrinsicAxis::Row ||
                             axis == IntrinsicAxis::Factor;
    if (var.kind == IterKind::Reduce && !written_out && !is_vector) {
      return 2 * sums <= kSumsOfTwoRegisters * target_.vector_registers();
    }
    if (!written_out && !is_vector) return true;
    if (is_vector) {
      sums *= ceil_div(var.extent, lanes_of(tree, stage));
    } else if (var.kind == IterKind::Spatial) {
      sums *= std::min(var.extent, kMaxInstructions);
    }
    sums = std::min(sums, kMaxInstructions);
  }
  return true;
}

bool Validity::vectors_fit(const LoopTree& tree, const Stage& stage) const {
  for (size_t k = stage.loops.size(); k-- > 0;) {
    const LoopVar& var = tree.var(stage.loops[k]);
    if (var.annotation != Annotation::Vectorize) continue;
    if (var.extent > kMaxVectors * lanes_of(tree, stage)) return false;
    if (var.extent > 1 || var.origin != VarOrigin::Part) return true;
    // A single lane where several are possible.
    return !has_small_divisor(tree.var(var.parent).extent);
  }
  return true;
}

// Host threads only: a target with bound loops has one, and launch_fault checks its limits.
bool Validity::threads_fit(const LoopTree& tree, const Stage& stage) const {
  size_t count = stage.loops.size();
  for (const Stage* around = &stage;;) {
    for (size_t k = 0; k < count; ++k) {
      const LoopVar& var = tree.var(around->loops[k]);
      if (var.annotation == Annotation::Parallel) return var.extent >= target_.threads();
    }
    if (around->place != Attachment::At) return false;
    count = static_cast<size_t>(tree.var(around->at_loop).position) + 1;
    around = &tree.stage(around->at_stage);
  }
}

// Sums the bytes of each memory that has a limit. Stages at root are launched one after the other,
// and each launch has the memories of threads and blocks for itself.
bool Validity::memory_fits(const LoopTree& tree) const {
  for (const MemoryScope scope : {MemoryScope::Shared, MemoryScope::Local, MemoryScope::Register}) {
    const int64_t limit = target_.bytes(scope);
    if (target_.distinct_scope(scope) != scope || limit == INT64_MAX) continue;
    std::array<int64_t, kMaxStages> bytes{};  // per stage at root
    for (const Stage& stage : tree.stages) {
      if (!stage.has_loops() || stage.place != Attachment::At) continue;
      if (target_.distinct_scope(memory_scope(tree, stage.first_buffer)) != scope) continue;
      const Stage* root = &stage;
      while (root->place == Attachment::At) root = &tree.stage(root->at_stage);
      int64_t& total = bytes[static_cast<size_t>(root - tree.stages.data())];
      total = std::min(total + bytes_of(tree, stage), INT64_MAX / 4);
      if (total > limit) return false;
    }
  }
  return true;
}

RejectReason Validity::check(const LoopTree& tree) const {
  int64_t attached = 0;
  int64_t whole = 0;
  for (const Stage& stage : tree.stages) {
    if (!stage.has_loops()) continue;
    const bool computes = stage.kind == StageKind::Compute || stage.kind == StageKind::Partial;
    if (computes && wants_threads_[stage.op] && !threads_fit(tree, stage))
      return RejectReason::Threads;
    if (!vectors_fit(tree, stage)) return RejectReason::VectorLength;
    if (computes && !accumulators_fit(tree, stage)) return RejectReason::Registers;
    int64_t& total = stage.place == Attachment::At ? attached : whole;
    total = std::min(total + bytes_of(tree, stage), INT64_MAX / 4);
  }
  // The caches are those of the host.
  const bool is_cached = !target_.runs_on_cpu() || attached <= scope_limit_;
  if (!is_cached || whole > root_limit_) return RejectReason::ScopeSize;
  if (!memory_fits(tree)) return RejectReason::MemorySize;
  if (target_.has_thread_axes() && launch_fault(tree, target_)) return RejectReason::Launch;
  if (estimated_instructions(tree, target_.vector_bytes()) > code_limit_)
    return RejectReason::CodeSize;
  return RejectReason::No;
}

}  // namespace tilewright::space
