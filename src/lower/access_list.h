// AccessList: all accesses of a function in order of evaluation, with the data needed to decide
// whether a loop may keep the element in a register. Accesses inside one loop are a contiguous
// range of the list.
//
// Binders (For and Let) around an access are numbered by depth, starting at 1 for the outermost.
// For a loop at depth d: an access is invariant in it if index_depth < d (its index and its buffer
// exist outside), and happens in every iteration if condition_depth < d.
#pragma once

#include <span>
#include <vector>

#include "ir/stmt.h"
#include "lower/linear_index.h"

namespace tilewright::lower {

struct Access {
  ir::BufferId buffer = 0;
  const ir::Load* load = nullptr;  // one of the two
  const ir::Store* store = nullptr;
  LinearIndex index = {};  // of the first lane
  unsigned lanes = 1;      // active ones under `mask`
  // Of a store, or of a load whose value only a store under the same mask uses (lane_mask.h): which
  // lanes are active. Undefined: all, or another condition.
  ir::Expr mask = {};
  bool dense = true;    // scalar, or stride 1; otherwise `index` is not set
  int index_depth = 0;  // depth of the innermost binder that it depends on
  // Number of binders around its innermost condition or predicate other than `mask`; -1: none.
  int condition_depth = -1;
};

struct LoopAccesses {
  const ir::For* loop = nullptr;
  int depth = 0;
  size_t begin = 0, end = 0;  // range in `accesses`
  bool has_parallel = false;  // contains a Parallel or a Bound loop
};

struct AccessList {
  std::vector<Access> accesses;
  std::vector<LoopAccesses> loops;  // in pre-order of the statements

  std::span<const Access> of(const LoopAccesses& loop) const {
    return std::span(accesses).subspan(loop.begin, loop.end - loop.begin);
  }
};

AccessList list_accesses(const ir::Function& function);

}  // namespace tilewright::lower
