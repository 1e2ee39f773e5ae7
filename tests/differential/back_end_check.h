// BackEndBatch: programs that the interpreter has run, compiled by every back end that serves the
// target. Each is lowered by the passes of that back end; its kernels give the bits of the
// interpreter on the same loop IR.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/back_ends/back_ends.h"
#include "program_check.h"

namespace tilewright::testing {

struct BatchFailure {
  size_t program;    // in the order in which they were added
  std::string text;  // the first difference, or what the compiler says
};

class BackEndBatch {
 public:
  explicit BackEndBatch(const Target& target,
                        std::span<const codegen::BackEnd> rows = codegen::all_back_ends())
      : target_(target), rows_(rows) {}

  void add(const Workload& workload, Interpreted program);
  size_t size() const { return programs_.size(); }

  // Compiles and runs all of them by each back end: the first that differs, or of which a compiler
  // complains.
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
  // The program as the back end lowers it, interpreted where no other has the same passes.
  static Result<const LoweredProgram*> lowered_for(const codegen::BackEnd& back_end,
                                                   Program& program);
  std::optional<BatchFailure> first_not_compiled(const codegen::BackEnd& back_end,
                                                 std::span<const ir::Function> functions) const;

  Target target_;
  std::span<const codegen::BackEnd> rows_;
  std::vector<Program> programs_;
};

}  // namespace tilewright::testing
