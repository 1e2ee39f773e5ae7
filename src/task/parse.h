// Parses a workload as a user writes it: the text of an operator (`matmul:m=512,n=512,k=512`), a
// name of the suite (`C2D2`, `C2D2.b16`), or a Dag in JSON: `dag:{"constants":["W"],"ops":[...]}`,
// see te/dag_json.h. `"parts":{"Y":[[1,8,8,96],64]}` names operands that are parts of larger
// arrays, with the extents and the alignment of those; `"winograd":true` grants the permission
// winograd, as the operator conv2d_winograd does, and `"denormals":true` the permission denormals.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright {

Result<Workload> parse_workload(std::string_view text, FloatPermissions permissions = {});

// A workload of a Dag that is not a named operator. Its text is the JSON form, so that it can be
// stored and sent like any other. Parts that do not fit are a CHECK.
Workload dag_workload(const std::shared_ptr<const te::Dag>& dag,
                      const std::vector<std::string>& constants, FloatPermissions permissions = {},
                      const std::vector<OperandPart>& parts = {});

}  // namespace tilewright
