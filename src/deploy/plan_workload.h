// The ModelPlan of a single kernel.
#pragma once

#include <span>

#include "deploy/plan_model.h"
#include "task/workload.h"

namespace tilewright::deploy {

// One kernel as a model of its own: its inputs and outputs by the names of their tensors. The
// constants in the order of its operands, of their types (a CHECK).
ModelPlan plan_workload(const Workload& workload, std::span<const graph::Constant> constants);

}  // namespace tilewright::deploy
