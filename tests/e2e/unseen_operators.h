// Operators that nobody prepared for: no name, no default of their own, made of te alone. What the
// rules of the space make of them is tested and measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "task/workload.h"

namespace tilewright::unseen {

struct UnseenOperator {
  std::string name;
  Workload workload;
};

std::vector<UnseenOperator> unseen_operators();

}  // namespace tilewright::unseen
