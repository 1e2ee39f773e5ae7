// The statement that computes one element of a stage: the operator's expression with axes replaced
// by their values, inlined producers written out, and reads turned into loads of buffers.
#pragma once

#include <functional>
#include <vector>

#include "ir/stmt.h"
#include "schedule/loop_tree.h"

namespace tilewright::lower {

// What a body needs to know of the nest around it.
struct BodyContext {
  const schedule::LoopTree& tree;
  schedule::StageIndex stage;
  std::vector<ir::Expr> axes;  // values of Stage::axes, absolute; null while a reduction begins
  // The indices of a buffer's layout for the element at absolute logical indices.
  std::function<std::vector<ir::Expr>(schedule::BufferIndex, const std::vector<ir::Expr>&)> locate;
  ir::BufferId accumulator = 0;  // where reductions fold to (first of the tuple)
  std::vector<ir::Expr> accumulator_indices;
  std::vector<ir::Expr> own_indices;  // of the element in the stage's own buffers
  // Of a padded tile: where one does not hold, reads that depend on it give 0 ...
  std::vector<ir::Expr> read_guards{};
  // ... and the value that is folded is the identity.
  std::vector<ir::Expr> fold_guards{};
};

// Has the index a variable of the guard? A guard that is a constant concerns every index.
bool shares_variable(const ir::Expr& guard, const ir::Expr& index);

ir::Stmt init_statement(const BodyContext& context);    // accumulator = identity
ir::Stmt update_statement(const BodyContext& context);  // accumulator = combine(accumulator, value)
ir::Stmt value_statement(const BodyContext& context);   // buffer = value; no reduction
// buffer = accumulator, cast to the element type: where the two are apart
ir::Stmt finish_statement(const BodyContext& context);

}  // namespace tilewright::lower
