// The output of `tilewright graph`: a GraphView as text and JSON; graph_svg.h draws it. Pure
// functions.
#pragma once

#include <string>

#include "app/graph_view.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string graph_text(const app::GraphView& view);
Json graph_json(const app::GraphView& view);

}  // namespace tilewright::cli
