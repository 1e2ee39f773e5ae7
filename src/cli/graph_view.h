// The output of `tilewright graph`: a GraphView as text, JSON and SVG. Pure functions.
#pragma once

#include <string>

#include "app/graph_view.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string graph_text(const app::GraphView& view);
Json graph_json(const app::GraphView& view);
// An SVG file: boxes in layers; slower kernels are darker.
std::string graph_svg(const app::GraphView& view);

}  // namespace tilewright::cli
