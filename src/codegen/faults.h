// Faults: whether an expression may be evaluated speculatively. Results for shared nodes are
// cached. Not thread-safe.
#pragma once

#include <unordered_map>

#include "ir/stmt.h"

namespace tilewright::codegen {

class Faults {
 public:
  explicit Faults(const ir::Function& function) : function_(function) {}

  // Loads from memory, or divides by a value that may be 0.
  bool may_fault(const ir::Expr& expr) const;
  bool may_hoist(const ir::Expr& expr) const;  // may be evaluated before it is known to be needed

 private:
  const ir::Function& function_;
  mutable std::unordered_map<const ir::Node*, bool> known_;  // of may_fault, for shared nodes
};

}  // namespace tilewright::codegen
