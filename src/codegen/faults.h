// What an expression may do when it is evaluated although nobody needs it. Answers about shared
// nodes are kept. Not to be shared between threads.
#pragma once

#include <unordered_map>

#include "ir/stmt.h"

namespace tilewright::codegen {

class Faults {
 public:
  explicit Faults(const ir::Function& function) : function_(function) {}

  bool may_fault(const ir::Expr& expr) const;  // loads from memory, divides by what may be 0
  bool may_hoist(const ir::Expr& expr) const;  // may be computed before it is known to be needed

 private:
  const ir::Function& function_;
  mutable std::unordered_map<const ir::Node*, bool> known_;  // of may_fault, for shared nodes
};

}  // namespace tilewright::codegen
