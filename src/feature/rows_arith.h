// Arithmetic of the operators of a Dag, counted once, and of statements, which may have the bodies
// of several operators in them.
//
//   sum over k of A[i, k] * B[k, j], contracted:  1 mad an update
//   ... of relu(A[i, k]) * B[k, j], relu inlined:  1 mad, 1 compare
//
// A branch that is taken where an index lies inside its tensor counts for that share of the
// iterations. Indices cost nothing.
#pragma once

#include <span>
#include <vector>

#include "feature/rows_layout.h"
#include "schedule/loop_tree.h"

namespace tilewright::feature {

// One variable of an index: its values are 0 .. extent - 1.
struct IndexTerm {
  int64_t coefficient = 0;
  int64_t extent = 1;
};

// The share of the combinations of values for which 0 <= constant + sum < size. Exact where all
// variables but one take few values. Reorders the terms.
double inside_share(std::span<IndexTerm> terms, int64_t constant, int64_t size);

// What an expression is at its root: what an addition to it may be contracted with.
enum class Root : uint8_t { Other, FloatMul, IntMul, Read };

struct OpArithmetic {
  OpCounts body{};     // of one element, all outputs
  OpCounts combine{};  // of one fold
  bool adds = false;   // the fold is a sum
  Root root = Root::Other;
  size_t root_read = 0;  // Read: which of OpAccess::reads
  // Reads that are added to something, which may be contracted where the body of a product is
  // inlined for them; one a sum.
  std::vector<size_t> added_reads{};
  double elements = 1;  // of the tensor
};

class DagArithmetic {
 public:
  DagArithmetic(const te::Dag& dag, bool contract);

  struct Statement {
    OpCounts counts{};
    double least_inlined = 0;  // the fewest elements of an inlined tensor; 0: nothing is inlined
  };
  // What one execution of a stage's statement computes; `updates`: with the fold.
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
