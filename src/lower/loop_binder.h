// LoopBinder: assigns values to the variables of a LoopTree while the statements inside are
// generated. For a split with a remainder, it branches where the value of the outer part is known,
// and generates each side with the numbers of that side:
//
//   i = i.0*4 + i.1 < 10, bound at i.0     ->     if i.0 < 2: (i.1 < 4) else: (i.1 < 2)
#pragma once

#include <functional>
#include <vector>

#include "ir/stmt.h"
#include "lower/build_nest.h"
#include "lower/nest_values.h"
#include "schedule/trace.h"

namespace tilewright::lower {

class LoopBinder {
 public:
  // All arguments outlive it; `bindings` may be null. `trace` is the trace of the tree of `values`.
  LoopBinder(NestValues& values, const schedule::Trace& trace, std::vector<LoopBinding>* bindings)
      : values_(values), trace_(trace), bindings_(bindings) {}

  // A new IR variable for a variable of the tree.
  ir::Expr name(schedule::VarIndex index);

  // Assigns a value to a variable for the statements that `inside` generates, and to every variable
  // that is thereby known: members of a fusion by division, a split variable once all its parts are
  // known. If a split has a remainder, branches on whether the outer part has its last value.
  ir::Stmt bind(schedule::VarIndex index, const ir::Expr& value,
                const std::function<ir::Stmt()>& inside);

 private:
  // The values that a branch leaves for the inner parts.
  struct Rest {
    int64_t count = 0;
    int64_t valid = 0;  // LoopVar::valid
    int64_t shift = 0;  // LoopVar::shift
  };

  ir::Stmt bind_members(schedule::VarIndex member, const ir::Expr& fused,
                        const std::function<ir::Stmt()>& inside);
  ir::Stmt resolve_part(schedule::VarIndex index, const std::function<ir::Stmt()>& inside);
  ir::Stmt bind_whole(schedule::VarIndex whole, const std::function<ir::Stmt()>& inside);
  ir::Stmt with_rest(const schedule::LoopVar& part, const Rest& inner, bool has_remainder,
                     const std::function<ir::Stmt()>& inside);
  Rest last_tile(const schedule::LoopVar& whole, const schedule::LoopVar& part, int64_t full,
                 int64_t left) const;
  void recompute();

  NestValues& values_;
  const schedule::Trace& trace_;
  std::vector<LoopBinding>* bindings_;
  int64_t recomputed_ = 0;  // number of recomputations of the numbers
};

}  // namespace tilewright::lower
