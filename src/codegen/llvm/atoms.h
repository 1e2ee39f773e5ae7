// AtomTable: numbers for the parts of indices that are not taken apart further. Equal atoms have
// equal numbers, which also order the terms of an address. One table per kernel; the function being
// emitted holds the nodes.
#pragma once

#include <llvm/ADT/DenseMap.h>

#include <cstdint>
#include <vector>

#include "ir/expr.h"

namespace tilewright::codegen {

class AtomTable {
 public:
  int64_t key(const ir::Expr& atom);  // of a variable its id; above those for the others

 private:
  std::vector<ir::Expr> atoms_;  // those that are no variables, by their number
  llvm::DenseMap<const ir::Node*, int64_t> numbers_;
};

}  // namespace tilewright::codegen
