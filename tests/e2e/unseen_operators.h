// Operators that are not in the table, built from te alone. With them, the rules of the space are
// tested and measured on operators for which they were not written.
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
