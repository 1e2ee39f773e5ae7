// ProgramChecker: compares four results of a program of one task: the interpreted nest, te/eval,
// the interpreted fully lowered IR, and the kernel of the target's back end. It also compares
// regions with the elements that the program touches.
//
// The nest and the lowered IR agree with te/eval up to rounding, and exactly where sums are exact.
// The lowered IR and the kernel agree bit by bit; so do nest and lowered IR if the permissions
// allow no difference. All of them flush or keep denormals according to the permissions; a denormal
// that is only moved may stay (ir/type.h). Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "codegen/back_end.h"
#include "codegen/interp/interp.h"
#include "operands.h"
#include "region_check.h"
#include "schedule/trace.h"
#include "te/rounding_bound.h"

namespace tilewright::testing {

enum class FailureKind : uint8_t {
  Nest,
  Regions,
  Evaluator,
  Lowering,
  LoweredIr,
  Compiled,
  Internal
};

struct Failure {
  FailureKind kind;
  std::string text;  // the first difference
};

// A program after one list of passes, and the interpreter's results.
struct LoweredProgram {
  std::span<const lower::Pass> passes;
  ir::Function function;
  Memory results;
};

// A checked program, for comparison with further back ends.
struct Interpreted {
  schedule::LoopTree tree;
  schedule::Trace trace;
  Memory inputs;
  LoweredProgram lowered;  // by the passes of the back end that it was checked with
};

struct CheckOptions {
  bool compiled = true;                        // by the back end
  Interpreted* interpreted = nullptr;          // out
  const codegen::BackEnd* back_end = nullptr;  // null: the first that serves the target
};

bool same_passes(std::span<const lower::Pass> a, std::span<const lower::Pass> b);

// Interprets the function on `memory`. Returns the error of the interpreter, or nothing.
std::optional<std::string> interpret_on(const ir::Function& function, Memory& memory,
                                        codegen::AccessObserver observer = {});

class ProgramChecker {
 public:
  ProgramChecker(Task task, uint64_t seed);        // `seed` decides the inputs
  ProgramChecker(const ProgramChecker&) = delete;  // the evaluators refer to it
  ProgramChecker& operator=(const ProgramChecker&) = delete;
  ~ProgramChecker() = default;

  const Task& task() const { return task_; }

  // `tree` is the result of applying `trace`.
  std::optional<Failure> check(const schedule::LoopTree& tree, const schedule::Trace& trace,
                               const CheckOptions& options = {});

  const RegionCount& regions() const { return regions_; }
  int64_t compared() const { return compared_; }  // elements compared with te/eval
  int64_t unbounded() const {
    return unbounded_;
  }  // of those: elements without a bound on their rounding

 private:
  std::optional<Failure> check_all(const schedule::LoopTree& tree, const schedule::Trace& trace,
                                   const CheckOptions& options);
  std::optional<Failure> check_nest(const schedule::LoopTree& tree, const schedule::Trace& trace,
                                    Memory& memory);
  std::optional<Failure> check_lowered(const ir::Function& lowered, const Memory& nest,
                                       Memory& memory);
  std::optional<Failure> check_compiled(const schedule::LoopTree& tree,
                                        const schedule::Trace& trace, const Memory& expected,
                                        const codegen::BackEnd* back_end);
  std::optional<std::string> first_wrong(const Memory& memory);  // by te/eval
  std::optional<std::string> first_wrong(te::TensorId output, const std::vector<uint8_t>& bytes);
  bool is_wrong(te::TensorId output, std::span<const int64_t> index, double actual,
                double expected);

  Task task_;
  Memory operands_;  // row-major
  te::Evaluator evaluator_;
  te::RoundingBound bound_;
  RegionCount regions_;
  int64_t compared_ = 0, unbounded_ = 0;
};

// The first element of an output in which two memories differ.
std::optional<std::string> first_difference(const Workload& workload, const Memory& a,
                                            const Memory& b);

}  // namespace tilewright::testing
