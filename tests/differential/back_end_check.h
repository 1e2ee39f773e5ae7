// BackEndBatch: programs that the interpreter has run, compiled by every back end of the table that
// serves the target: the kernels give the same bits.
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
  explicit BackEndBatch(const Target& target) : target_(target) {}

  void add(const Workload& workload, Interpreted program);
  size_t size() const { return functions_.size(); }

  // Compiles and runs all of them by each back end: the first that differs, or of which a compiler
  // complains.
  std::optional<BatchFailure> check() const;

 private:
  struct Expected {
    Workload workload;
    Memory inputs, results;
  };

  std::optional<BatchFailure> check(const codegen::BackEnd& back_end) const;
  std::optional<BatchFailure> first_not_compiled(const codegen::BackEnd& back_end) const;

  Target target_;
  std::vector<ir::Function> functions_;
  std::vector<Expected> expected_;
};

}  // namespace tilewright::testing
