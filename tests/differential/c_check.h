// CBatch: programs that the interpreter has run, as one C source: the C compiler's kernels give the
// same bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program_check.h"

namespace tilewright::testing {

class CBatch {
 public:
  explicit CBatch(const Target& target) : target_(target) {}

  void add(const Workload& workload, Interpreted program, std::string description);
  size_t size() const { return functions_.size(); }

  // Compiles and runs all of them. What is wrong with the first that differs, with its description.
  std::optional<std::string> check() const;

 private:
  struct Expected {
    Workload workload;
    Memory inputs, results;
    std::string description;
  };

  Target target_;
  std::vector<ir::Function> functions_;
  std::vector<Expected> expected_;
};

}  // namespace tilewright::testing
