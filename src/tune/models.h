// The cost models of a search: one that learns, and one that guides until it has learnt enough.
#pragma once

#include <memory>

#include "cost/model.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::tune {

enum class CostKind : uint8_t;

struct Models {
  std::unique_ptr<cost::CostModel> learned;  // null: nothing is learnt
  std::unique_ptr<cost::CostModel> guess;    // null: no scores at all
};

Models make_models(CostKind kind, const Task& task, const Machine& machine, uint64_t seed);

}  // namespace tilewright::tune
