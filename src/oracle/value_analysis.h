// What the elements of every tensor of a Dag can be, given what its inputs are: an abstract run of
// the definition on ValueSets. Decides whether results are exact and whether inputs stay within the
// domains of the functions they go into. Pure; extents are constants.
#pragma once

#include <vector>

#include "oracle/value_set.h"
#include "te/dag.h"

namespace tilewright::oracle {

struct ValueAnalysis {
  std::vector<ValueSet> tensors;  // by TensorId
  bool exact = true;              // all outputs are
  int exact_sums = 0;             // reductions of floats by + or * that are ...
  int inexact_sums = 0;           // ... and that are not
  int hazards = 0;        // expressions whose operands may leave their domain, or that overflow
  bool in_bounds = true;  // no index that was read from a tensor can leave its dimension
};

// `inputs` by TensorId; what is no placeholder is ignored.
ValueAnalysis analyze_values(const te::Dag& dag, const std::vector<ValueSet>& inputs);

}  // namespace tilewright::oracle
