// Generates the statement that computes one element of a stage: the operator's expression with axes
// replaced by their values, producers inlined, and reads converted to loads of buffers.
#pragma once

#include <functional>
#include <vector>

#include "ir/stmt.h"
#include "schedule/loop_tree.h"

namespace tilewright::lower {

// The nest around a body.
struct BodyContext {
  const schedule::LoopTree& tree;
  schedule::StageIndex stage;
  // Values of Stage::axes, absolute; null while a reduction is initialized.
  std::vector<ir::Expr> axes;
  // The indices of a buffer's layout for the element at absolute logical indices.
  std::function<std::vector<ir::Expr>(schedule::BufferIndex, const std::vector<ir::Expr>&)> locate;
  ir::BufferId accumulator = 0;  // target of reductions (first of the tuple)
  std::vector<ir::Expr> accumulator_indices;
  std::vector<ir::Expr> own_indices;  // of the element in the stage's buffers
  // For a padded tile: if one does not hold, reads that depend on it give 0 ...
  std::vector<ir::Expr> read_guards{};
  // ... and the identity is folded.
  std::vector<ir::Expr> fold_guards{};
};

// True if the index contains a variable of the guard. A constant guard concerns every index.
bool shares_variable(const ir::Expr& guard, const ir::Expr& index);

ir::Stmt init_statement(const BodyContext& context);    // accumulator = identity
ir::Stmt update_statement(const BodyContext& context);  // accumulator = combine(accumulator, value)
ir::Stmt value_statement(const BodyContext& context);   // buffer = value; no reduction
// buffer = accumulator, cast to the element type, if the two are separate
ir::Stmt finish_statement(const BodyContext& context);

}  // namespace tilewright::lower
