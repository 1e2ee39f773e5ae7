// What the user may write where a workload is meant: the text of an operator
// (`matmul:m=512,n=512,k=512`) or a name of the suite (`C2D2`, `C2D2.b16`).
#pragma once

#include <string_view>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright {

Result<Workload> parse_workload(std::string_view text, Licences licences = {});

}  // namespace tilewright
