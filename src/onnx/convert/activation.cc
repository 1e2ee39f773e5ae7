// Activations.
#include <fmt/format.h>

#include "onnx/convert/direct.h"

namespace tilewright::onnx {
namespace {

std::vector<Tensor> convert_selu(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  return {node.result("selu",
                      {{"alpha", attributes.number("alpha", 1.67326319217681884765625)},
                       {"gamma", attributes.number("gamma", 1.05070102214813232421875)}},
                      {node.operand(0)})};
}

std::vector<Tensor> convert_hard_sigmoid(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  return {node.result(
      "hard_sigmoid",
      {{"alpha", attributes.number("alpha", 0.2F)}, {"beta", attributes.number("beta", 0.5)}},
      {node.operand(0)})};
}

std::vector<Tensor> convert_shrink(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  return {node.result(
      "shrink",
      {{"bias", attributes.number("bias", 0)}, {"lambd", attributes.number("lambd", 0.5)}},
      {node.operand(0)})};
}

std::vector<Tensor> convert_gelu(Conversion& node) {
  const std::string approximate = node.attributes().text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    refuse(fmt::format("approximate is '{}'; none or tanh are possible", shown(approximate)));
  }
  return {node.result("gelu", {{"approximate", approximate}}, {node.operand(0)})};
}

// x * sigmoid(alpha * x)
std::vector<Tensor> convert_swish(Conversion& node) {
  const Tensor x = node.operand(0);
  const double alpha = node.attributes().number("alpha", 1);
  if (alpha == 1) return {node.result("silu", {x})};
  const Tensor scaled = node.emit("mul", {x, node.number(alpha, x->element())});
  return {node.result("mul", {x, node.emit("sigmoid", {scaled})})};
}

constexpr ConverterRow kRows[] = {
    {"Celu", with_number<"celu", "alpha", 1.0F>},
    {"Elu", with_number<"elu", "alpha", 1.0F>},
    {"Gelu", convert_gelu},
    {"HardSigmoid", convert_hard_sigmoid},
    {"HardSwish", direct<"hard_swish">},
    {"LeakyRelu", with_number<"leaky_relu", "alpha", 0.01F>},
    {"Mish", direct<"mish">},
    {"PRelu", direct<"prelu">},
    {"Relu", direct<"relu">},
    {"Selu", convert_selu},
    {"Shrink", convert_shrink},
    {"Sigmoid", direct<"sigmoid">},
    {"Softplus", direct<"softplus">},
    {"Softsign", direct<"softsign">},
    {"Swish", convert_swish},
    {"Tanh", direct<"tanh">},
    {"ThresholdedRelu", with_number<"thresholded_relu", "alpha", 1.0F>},
};

}  // namespace

std::span<const ConverterRow> activation_converters() { return kRows; }

}  // namespace tilewright::onnx
