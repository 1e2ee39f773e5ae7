// Random small workloads: every operator of the table with odd extents and each type that it
// allows, and Dags that no operator has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "task/workload.h"

namespace tilewright::testing {

struct WorkloadKind {
  std::string_view name;                 // begins with the operator, if there is one
  double weight;                         // how often it is drawn
  std::string (*parameters)(Rng& rng);   // of the operator: `m=3,n=5`
  Workload (*make)(Rng& rng) = nullptr;  // a Dag without an operator
};

const std::vector<WorkloadKind>& all_workload_kinds();

const WorkloadKind& random_kind(Rng& rng);

// A workload of the kind, sometimes without the permissions to reassociate and contract.
Workload random_workload(const WorkloadKind& kind, Rng& rng);

// The same with some inputs and outputs, at least one, as parts of larger arrays.
Workload with_parts(const Workload& workload, Rng& rng);

}  // namespace tilewright::testing
