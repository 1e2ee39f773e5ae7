#include "onnx/convert/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::onnx {
namespace {

constexpr int64_t kMaxParameter = int64_t{1} << 24;  // sums and products do not overflow

void check(std::string_view what, const Shape& list, size_t rank, int64_t low) {
  const bool fits = list.size() == rank && std::ranges::all_of(list, [&](int64_t number) {
                      return number >= low && number <= kMaxParameter;
                    });
  if (!fits) refuse(fmt::format("{} {} for {} spatial dimensions", what, shape_text(list), rank));
}

// Pads such that the result has ceil(extent / stride) elements.
void pad_same(Window& window, std::span<const int64_t> spatial, bool more_at_end) {
  for (size_t k = 0; k < spatial.size(); ++k) {
    const int64_t results = (spatial[k] + window.stride[k] - 1) / window.stride[k];
    const int64_t needed = (results - 1) * window.stride[k] + covered(window, k) - spatial[k];
    const int64_t pads = std::max<int64_t>(needed, 0);
    window.begin[k] = more_at_end ? pads / 2 : pads - pads / 2;
    window.end[k] = pads - window.begin[k];
  }
}

}  // namespace

int64_t covered(const Window& window, size_t dimension) {
  return (window.kernel[dimension] - 1) * window.dilation[dimension] + 1;
}

Window window_of(Conversion& node, Shape kernel, std::span<const int64_t> spatial) {
  const size_t rank = spatial.size();
  const NodeReader& attributes = node.attributes();
  Window window{.kernel = std::move(kernel),
                .stride = attributes.list("strides", ones(rank)),
                .dilation = attributes.list("dilations", ones(rank)),
                .begin = Shape(rank, 0),
                .end = Shape(rank, 0)};
  check("a kernel of", window.kernel, rank, 1);
  check("strides of", window.stride, rank, 1);
  check("dilations of", window.dilation, rank, 1);
  check("spatial extents of", {spatial.begin(), spatial.end()}, rank, 1);
  const std::string automatic = attributes.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_same(window, spatial, automatic == "SAME_UPPER");
  } else if (automatic == "NOTSET" || automatic.empty()) {
    const Shape pads = attributes.list("pads", Shape(2 * rank, 0));
    check("pads of", pads, 2 * rank, 0);
    window.begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
    window.end.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  } else if (automatic != "VALID") {
    refuse(fmt::format("auto_pad is '{}'", shown(automatic)));
  }
  return window;
}

graph::Attributes window_attributes(const Window& window) {
  return {{"stride", window.stride},
          {"dilation", window.dilation},
          {"pad_begin", window.begin},
          {"pad_end", window.end}};
}

}  // namespace tilewright::onnx
