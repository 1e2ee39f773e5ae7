// BackEndBatch: programs that the interpreter has run, compiled by every back end that serves the
// target. Each program is lowered by the passes of that back end. Its kernel must compute the same
// bits as the interpreter on the same loop IR.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/back_ends/back_ends.h"
#include "program_check.h"

namespace tilewright::testing {

struct BatchFailure {
  size_t program;    // in the order in which they were added
  std::string text;  // the first difference, or the compiler's message
};

class BackEndBatch {
 public:
  explicit BackEndBatch(const Target& target,
                        std::span<const codegen::BackEnd> rows = codegen::all_back_ends())
      : target_(target), rows_(rows) {}

  void add(const Workload& workload, Interpreted program);
  size_t size() const { return programs_.size(); }

  // Compiles and runs all programs with each back end. Returns the first one that differs or fails
  // to compile.
  std::optional<BatchFailure> check();

 private:
  struct Program {
    Task task;
    schedule::LoopTree tree;
    schedule::Trace trace;
    Memory inputs;
    std::vector<LoweredProgram> lowered;  // one per list of passes
  };

  std::optional<BatchFailure> check(const codegen::BackEnd& back_end);
  // The program lowered by the back end's passes, and interpreted unless another back end has the
  // same passes.
  static Result<const LoweredProgram*> lowered_for(const codegen::BackEnd& back_end,
                                                   Program& program);
  std::optional<BatchFailure> first_not_compiled(const codegen::BackEnd& back_end,
                                                 std::span<const ir::Function> functions) const;

  Target target_;
  std::span<const codegen::BackEnd> rows_;
  std::vector<Program> programs_;
};

}  // namespace tilewright::testing
