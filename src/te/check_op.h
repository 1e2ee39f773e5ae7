// The rules for an operator of a Dag: plain names; axes with at least one element; expressions over
// its axes that read tensors of earlier operators with their types; a reduction whose parts have
// the types of its accumulators. DagBuilder applies them to every operator.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "te/dag.h"

namespace tilewright::te {

// Letters, digits and '_'; at least one.
bool is_plain_name(std::string_view name);

// The first broken rule, if any. `elements`: the types of its outputs. `tensors`: those defined
// before it.
Status check_op(const Op& op, const std::vector<ir::Scalar>& elements,
                const std::vector<Tensor>& tensors);

}  // namespace tilewright::te
