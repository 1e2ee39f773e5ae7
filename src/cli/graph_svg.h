// Draws a GraphView: layers from top to bottom; a box is one layer below the lowest that it reads.
// Edges to the next layer are straight; longer ones curve around the boxes.
#pragma once

#include <string>

#include "app/graph_view.h"

namespace tilewright::cli {

// An SVG file; slower kernels are darker.
std::string graph_svg(const app::GraphView& view);

}  // namespace tilewright::cli
