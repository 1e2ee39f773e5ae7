// CBatch: programs that the interpreter has run, as one C source: the C compiler's kernels give the
// same bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program_check.h"

namespace tilewright::testing {

struct CFailure {
  size_t program;    // in the order in which they were added
  std::string text;  // the first difference, or what the compiler says
};

class CBatch {
 public:
  explicit CBatch(const Target& target) : target_(target) {}

  void add(const Workload& workload, Interpreted program);
  size_t size() const { return functions_.size(); }

  // Compiles and runs all of them: the first that differs, or of which the compiler complains.
  std::optional<CFailure> check() const;

 private:
  struct Expected {
    Workload workload;
    Memory inputs, results;
  };

  std::optional<CFailure> first_not_compiled() const;

  Target target_;
  std::vector<ir::Function> functions_;
  std::vector<Expected> expected_;
};

}  // namespace tilewright::testing
