// Arithmetic operations of the operators of a Dag, counted once, and of statements, which may
// contain the inlined bodies of several operators.
//
//   sum over k of A[i, k] * B[k, j], contracted:  1 mad per update
//   ... of relu(A[i, k]) * B[k, j], relu inlined:  1 mad, 1 compare
//
// A branch that is taken only if an index lies within its tensor counts for that share of the
// iterations. Index arithmetic is not counted.
#pragma once

#include <span>
#include <vector>

#include "feature/rows_layout.h"
#include "schedule/loop_tree.h"

namespace tilewright::feature {

// One variable of an index, with values 0 .. extent - 1.
struct IndexTerm {
  int64_t coefficient = 0;
  int64_t extent = 1;
};

// The share of the combinations of values with 0 <= constant + sum < size. Exact if all variables
// but one take few values. Reorders the terms.
double inside_share(std::span<IndexTerm> terms, int64_t constant, int64_t size);

// The root of an expression, which determines whether an addition can be contracted with it.
enum class Root : uint8_t { Other, FloatMul, IntMul, Read };

struct OpArithmetic {
  OpCounts body{};     // per element, all outputs
  OpCounts combine{};  // per fold
  bool adds = false;   // the fold is a sum
  Root root = Root::Other;
  size_t root_read = 0;  // for Read: index in OpAccess::reads
  // Reads that are operands of an addition, which can be contracted with an inlined product; one
  // per sum.
  std::vector<size_t> added_reads{};
  double elements = 1;  // of the tensor
};

class DagArithmetic {
 public:
  DagArithmetic(const te::Dag& dag, bool contract);

  struct Statement {
    OpCounts counts{};
    // Smallest number of elements of an inlined tensor; 0: nothing is inlined.
    double min_inlined = 0;
  };
  // The operations of one execution of a stage's statement; `updates`: including the fold.
  Statement of(const schedule::LoopTree& tree, schedule::StageIndex stage, bool updates) const;

 private:
  Root add_body(const schedule::LoopTree& tree, schedule::StageIndex stage, te::OpId op,
                schedule::StageIndex via, Statement* statement) const;
  Root add_read(const schedule::LoopTree& tree, schedule::StageIndex stage, te::TensorId tensor,
                schedule::StageIndex via, Statement* statement) const;

  const te::Dag* dag_;
  bool contract_;
  std::vector<OpArithmetic> ops_;
};

}  // namespace tilewright::feature
