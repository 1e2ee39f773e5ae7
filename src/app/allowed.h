// The float permissions that a user gives by name, in addition to the defaults (`allow` of
// options).
//
//   model_permissions({"winograd", "denormals"})
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright::app {

// An unknown name is an error that lists the names.
Result<FloatPermissions> model_permissions(const std::vector<std::string>& allow);
// The same for a single operator. Permissions that only the passes over a model use are errors.
Result<FloatPermissions> operator_permissions(const std::vector<std::string>& allow);

}  // namespace tilewright::app
