// What `tilewright graph` prints of a GraphView: text, JSON and a picture. Pure functions.
#pragma once

#include <string>

#include "app/graph_view.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string graph_text(const app::GraphView& view);
Json graph_json(const app::GraphView& view);
// An SVG file: boxes in layers; the longer a box takes, the darker it is.
std::string graph_svg(const app::GraphView& view);

}  // namespace tilewright::cli
