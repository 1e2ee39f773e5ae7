// An abstract interpretation of a Dag on ValueSets: derives the possible values of every tensor
// from those of the inputs. Decides whether results are exact, and whether operands stay within the
// domains of their functions. Pure; extents are constants.
#pragma once

#include <vector>

#include "oracle/value_set.h"
#include "te/dag.h"

namespace tilewright::oracle {

struct ValueAnalysis {
  std::vector<ValueSet> tensors;  // per TensorId
  bool exact = true;              // all outputs are exact
  int exact_sums = 0;             // float reductions by + or * that are exact
  int inexact_sums = 0;           // float reductions by + or * that are not
  int hazards = 0;        // expressions that may overflow or whose operands may leave their domain
  bool in_bounds = true;  // no index read from a tensor can leave its dimension
};

// `inputs` per TensorId; entries of other tensors are ignored.
ValueAnalysis analyze_values(const te::Dag& dag, const std::vector<ValueSet>& inputs);

}  // namespace tilewright::oracle
