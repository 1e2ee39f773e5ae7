// Fused operators of the domain com.microsoft, which ONNX Runtime's optimizers write.
#include <fmt/format.h>

#include "onnx/convert/contract.h"
#include "onnx/convert/conv.h"
#include "onnx/convert/norm.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

Tensor skip_sum(Conversion& node, size_t bias) {
  const Tensor sum = node.emit("add", {node.operand(0), node.operand(1)});
  if (sum->rank() == 0) refuse("its operands are scalars");
  return node.has(bias) ? node.emit("add", {sum, node.operand(bias)}) : sum;
}

// norm(x + skip + bias); the fourth result is the sum.
std::vector<Tensor> convert_skip_layer_norm(Conversion& node) {
  const Tensor sum = skip_sum(node, 4);
  const double epsilon = node.attributes().number("epsilon", 1e-12F);
  const Tensor y =
      layer_norm(node, sum, node.operand(2), node.optional_operand(3), sum->rank() - 1, epsilon);
  return {y, nullptr, nullptr, sum};
}

std::vector<Tensor> convert_skip_simplified_norm(Conversion& node) {
  const Tensor sum = skip_sum(node, 3);
  const double epsilon = node.attributes().number("epsilon", 1e-12F);
  const Tensor y = rms_norm(node, sum, node.operand(2), sum->rank() - 1, epsilon);
  return {y, nullptr, nullptr, sum};
}

template <bool tanh_form>
std::vector<Tensor> convert_bias_gelu(Conversion& node) {
  const Tensor x = node.operand(0);
  const Tensor sum = node.has(1) ? node.emit("add", {x, node.operand(1)}) : x;
  return {node.result("gelu", {{"approximate", tanh_form ? "tanh" : "none"}}, {sum})};
}

// x * sigmoid(alpha * x)
std::vector<Tensor> convert_quick_gelu(Conversion& node) {
  const Tensor x = node.operand(0);
  const Tensor inner = scaled(node, x, node.attributes().number("alpha", 1.702F));
  return {node.result("mul", {x, node.emit("sigmoid", {inner})})};
}

std::vector<Tensor> convert_fused_matmul(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  if (attributes.integer("transBatchA", 0) != 0 || attributes.integer("transBatchB", 0) != 0) {
    not_supported("with transposed batch dimensions");
  }
  const Tensor y = matmul(node, node.operand(0), node.operand(1),
                          {.transpose_a = attributes.integer("transA", 0) != 0,
                           .transpose_b = attributes.integer("transB", 0) != 0});
  return {scaled(node, y, attributes.number("alpha", 1))};
}

// activation(conv(x, w) + bias + z)
std::vector<Tensor> convert_fused_conv(Conversion& node) {
  Tensor y = convolve(node, node.operand(0), node.operand(1));
  if (node.has(2)) y = node.emit("add", {y, per_channel(node, node.operand(2), y)});
  if (node.has(3)) y = node.emit("add", {y, node.operand(3)});
  const std::string activation = node.attributes().text("activation", "");
  if (activation == "Relu") return {node.result("relu", {y})};
  if (activation == "Sigmoid") return {node.result("sigmoid", {y})};
  if (activation == "Tanh") return {node.result("tanh", {y})};
  if (activation.empty()) return {y};
  const std::vector<double> numbers = node.attributes().has("activation_params")
                                          ? node.attributes().numbers("activation_params")
                                          : std::vector<double>();
  if (activation == "LeakyRelu" && numbers.size() == 1) {
    return {node.result("leaky_relu", {{"alpha", numbers[0]}}, {y})};
  }
  if (activation == "Clip" && numbers.size() == 2) {
    return {node.result(
        "clip", {y, node.number(numbers[0], y->element()), node.number(numbers[1], y->element())})};
  }
  if (activation == "HardSigmoid" && numbers.size() == 2) {
    return {node.result("hard_sigmoid", {{"alpha", numbers[0]}, {"beta", numbers[1]}}, {y})};
  }
  not_supported(fmt::format("with the activation '{}'", shown(activation)));
}

constexpr ConverterRow kRows[] = {
    {"BiasGelu", convert_bias_gelu<false>, kMicrosoft},
    {"FastGelu", convert_bias_gelu<true>, kMicrosoft},
    {"FusedConv", convert_fused_conv, kMicrosoft},
    {"FusedMatMul", convert_fused_matmul, kMicrosoft},
    {"Gelu", convert_bias_gelu<false>, kMicrosoft},
    {"QuickGelu", convert_quick_gelu, kMicrosoft},
    {"SkipLayerNormalization", convert_skip_layer_norm, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", convert_skip_simplified_norm, kMicrosoft},
};

}  // namespace

std::span<const ConverterRow> microsoft_converters() { return kRows; }

}  // namespace tilewright::onnx
