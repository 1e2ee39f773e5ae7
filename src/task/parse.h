// What the user may write where a workload is meant: the text of an operator
// (`matmul:m=512,n=512,k=512`), a name of the suite (`C2D2`, `C2D2.b16`), or a Dag of its own in
// JSON: `dag:{"constants":["W"],"ops":[...]}`, see te/dag_json.h; `"parts":{"Y":[[1,8,8,96],64]}`
// names operands that are parts of larger arrays, with the extents of those and their alignment;
// `"winograd":true` gives the permission of that name, as the operator conv2d_winograd does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright {

Result<Workload> parse_workload(std::string_view text, FloatPermissions permissions = {});

// A workload of a Dag that no operator's text names; its own text is the JSON form, so that it
// travels and is stored as any other. Parts that do not fit are a CHECK.
Workload dag_workload(const std::shared_ptr<const te::Dag>& dag,
                      const std::vector<std::string>& constants, FloatPermissions permissions = {},
                      const std::vector<OperandPart>& parts = {});

}  // namespace tilewright
