// AtomTable: numbers the parts of indices that are not decomposed further. Equal atoms have equal
// numbers, which also order the terms of an address. One table per kernel; the function being
// emitted owns the nodes.
#pragma once

#include <llvm/ADT/DenseMap.h>

#include <cstdint>
#include <vector>

#include "ir/expr.h"

namespace tilewright::codegen {

class AtomTable {
 public:
  int64_t key(const ir::Expr& atom);  // the id of a variable; larger numbers for other atoms

 private:
  std::vector<ir::Expr> atoms_;  // atoms other than variables, by number
  llvm::DenseMap<const ir::Node*, int64_t> numbers_;
};

}  // namespace tilewright::codegen
