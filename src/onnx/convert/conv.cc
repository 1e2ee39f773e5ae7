// Convolutions. A bias becomes a separate node.
#include "onnx/convert/conv.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/element.h"
#include "onnx/convert/norm.h"
#include "onnx/convert/window.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

// Checks that both shapes have the same number of spatial dimensions; returns the kernel's extents.
Shape kernel_of(Conversion& node, Tensor x, Tensor w) {
  if (x->rank() < 3 || w->rank() != x->rank()) {
    refuse(fmt::format("{} with weights {}", x->type.to_string(), w->type.to_string()));
  }
  Shape kernel(w->shape().begin() + 2, w->shape().end());
  const Shape said = node.attributes().list("kernel_shape", kernel);
  if (said != kernel) {
    refuse(fmt::format("kernel_shape {} and weights {}", shape_text(said), w->type.to_string()));
  }
  return kernel;
}

Tensor with_bias(Conversion& node, Tensor y, Tensor bias) {
  return bias == nullptr ? y : node.result("add", {y, per_channel(node, bias, y)});
}

std::vector<Tensor> convert_conv(Conversion& node) {
  const Tensor y = convolve(node, node.operand(0), node.operand(1));
  return {with_bias(node, y, node.optional_operand(2))};
}

// Pads for a result of shape `wanted`; an odd remainder goes to the end.
void pad_to(Window& window, Shape& more, const Shape& wanted, std::span<const int64_t> spatial,
            bool more_at_begin) {
  for (size_t k = 0; k < spatial.size(); ++k) {
    const int64_t whole = window.stride[k] * (spatial[k] - 1) + more[k] + covered(window, k);
    const int64_t pads = whole - wanted[k];
    if (pads < 0) {
      window.begin[k] = window.end[k] = 0;
      more[k] -= pads;
      continue;
    }
    window.begin[k] = more_at_begin ? pads - pads / 2 : pads / 2;
    window.end[k] = pads - window.begin[k];
  }
}

std::vector<Tensor> convert_conv_transpose(Conversion& node) {
  const Tensor x = node.operand(0);
  const Tensor w = node.operand(1);
  Shape kernel = kernel_of(node, x, w);
  const size_t rank = kernel.size();
  const std::span<const int64_t> spatial = std::span(x->shape()).subspan(2);
  const NodeReader& from = node.attributes();
  Window window = window_of(node, std::move(kernel), spatial);
  Shape more = from.list("output_padding", Shape(rank, 0));
  if (more.size() != rank ||
      std::ranges::any_of(more, [](int64_t n) { return n < 0 || n > (int64_t{1} << 24); })) {
    refuse(fmt::format("output_padding {}", shape_text(more)));
  }
  const std::string automatic = from.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  Shape wanted = from.list("output_shape", {});
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.empty() && same) {
    for (size_t k = 0; k < rank; ++k) wanted.push_back(spatial[k] * window.stride[k]);
  }
  if (!wanted.empty()) {
    if (wanted.size() != rank ||
        std::ranges::any_of(wanted, [](int64_t n) { return n < 1 || n > (int64_t{1} << 48); })) {
      refuse(fmt::format("output_shape {}", shape_text(wanted)));
    }
    pad_to(window, more, wanted, spatial,
           automatic == "SAME_UPPER" ? false : automatic != "NOTSET");
  }
  graph::Attributes attributes = window_attributes(window);
  attributes.set("output_padding", more);
  attributes.set("groups", from.integer("group", 1));
  const Tensor y = node.emit("conv_transpose", std::move(attributes), {x, w});
  return {with_bias(node, y, node.optional_operand(2))};
}

// For each channel and tap a kernel with a single 1: w[c * taps + t, 0, t] = 1.
Tensor tap_kernels(Conversion& node, int64_t channels, const Shape& kernel, ir::Scalar element) {
  const int64_t taps = product(kernel);
  Shape shape{channels * taps, 1};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  graph::TensorType type{.element = element, .shape = std::move(shape)};
  node.charge(type);
  std::vector<std::byte> bytes(static_cast<size_t>(type.elements() * ir::bytes_of(element)));
  for (int64_t k = 0; k < channels * taps; ++k) {
    ir::write_element(bytes.data(), element, k * taps + k % taps, 1);
  }
  return node.constant(graph::Constant::of_bytes(std::move(type), std::move(bytes)));
}

// Adds blocks into an image: a transposed convolution with one channel per tap.
std::vector<Tensor> convert_col2im(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape image = node.known_integers(1, "image_shape");
  const Window window = window_of(node, node.known_integers(2, "block_shape"), image);
  const int64_t taps = product(window.kernel);
  Shape blocks{x->rank() == 3 ? x->shape()[0] : 0, x->rank() == 3 ? x->shape()[1] : 0};
  Shape more;
  for (size_t k = 0; k < image.size(); ++k) {
    const int64_t room = image[k] + window.begin[k] + window.end[k] - covered(window, k);
    blocks.push_back(room < 0 ? 0 : room / window.stride[k] + 1);
    more.push_back(room < 0 ? 0 : room % window.stride[k]);
  }
  if (product(blocks) == 0 || blocks[1] % taps != 0 || product(blocks) != x->type.elements()) {
    refuse(fmt::format("{} for blocks {} of an image {}", x->type.to_string(),
                       shape_text(window.kernel), shape_text(image)));
  }
  const int64_t channels = blocks[1] / taps;
  const Tensor w = tap_kernels(node, channels, window.kernel, x->element());
  graph::Attributes attributes = window_attributes(window);
  attributes.set("output_padding", more);
  attributes.set("groups", channels);
  return {node.result("conv_transpose", std::move(attributes), {node.reshape(x, blocks), w})};
}

constexpr ConverterRow kRows[] = {
    {"Col2Im", convert_col2im},
    {"Conv", convert_conv},
    {"ConvTranspose", convert_conv_transpose},
};

}  // namespace

Tensor convolve(Conversion& node, Tensor x, Tensor w) {
  const Window window =
      window_of(node, kernel_of(node, x, w), std::span(x->shape()).subspan(x->rank() < 2 ? 0 : 2));
  graph::Attributes attributes = window_attributes(window);
  attributes.set("groups", node.attributes().integer("group", 1));
  return node.emit("conv", std::move(attributes), {x, w});
}

std::span<const ConverterRow> conv_converters() { return kRows; }

}  // namespace tilewright::onnx
