// plan_workload: the ModelPlan of a single kernel.
#pragma once

#include <span>

#include "deploy/plan_model.h"
#include "task/workload.h"

namespace tilewright::deploy {

// One kernel as a model; its inputs and outputs have the names of their tensors. `constants` are in
// the order of its operands and of their types (a CHECK).
ModelPlan plan_workload(const Workload& workload, std::span<const graph::Constant> constants);

}  // namespace tilewright::deploy
