// Arithmetic, comparisons, logic and casts: elementwise with broadcasting.
#include <fmt/format.h>

#include "onnx/convert/direct.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

template <OpName op>
std::vector<Tensor> variadic(Conversion& node) {
  return {node.fold(op.view(), node.operands())};
}

// `add` takes any number of operands, Add two.
std::vector<Tensor> convert_add(Conversion& node) {
  if (node.operand_count() > 2) refuse(fmt::format("{} operands", node.operand_count()));
  return {node.result("add", {node.operand(0), node.operand(1)})};
}

std::vector<Tensor> convert_mean(Conversion& node) {
  const Tensor sum = node.fold("add", node.operands());
  const auto count = static_cast<double>(node.operand_count());
  return {node.result("div", {sum, node.number(count, sum->element())})};
}

// The result has the type of the base.
std::vector<Tensor> convert_pow(Conversion& node) {
  const Tensor base = node.operand(0);
  const Tensor exponent = node.operand(1);
  if (ir::is_float(exponent->element()) && !ir::is_float(base->element())) {
    const Tensor power = node.emit("pow", {node.cast(base, exponent->element()), exponent});
    return {node.cast(power, base->element())};
  }
  return {node.result("pow", {base, node.cast(exponent, base->element())})};
}

std::vector<Tensor> convert_mod(Conversion& node) {
  return {node.result("mod", {{"fmod", node.attributes().integer("fmod", 0)}},
                      {node.operand(0), node.operand(1)})};
}

std::vector<Tensor> convert_bit_shift(Conversion& node) {
  const std::string direction = node.attributes().text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    refuse(fmt::format("the direction '{}'; LEFT or RIGHT are possible", shown(direction)));
  }
  const Tensor x = node.operand(0);
  Tensor by = node.operand(1);
  if (direction == "LEFT") return {node.result("shift", {{"direction", "left"}}, {x, by})};
  if (ir::is_signed(x->element())) {  // beyond its width only the sign remains
    const Tensor max_shift = node.number(8 * ir::bytes_of(x->element()) - 1, by->element());
    const Tensor negative = node.emit("less", {by, node.number(0, by->element())});
    by = node.emit("where", {negative, max_shift, node.emit("min", {by, max_shift})});
  }
  return {node.result("shift", {{"direction", "right"}}, {x, by})};
}

std::vector<Tensor> convert_clip(Conversion& node) {
  const Tensor x = node.operand(0);
  Tensor low = node.optional_operand(1);
  Tensor high = node.optional_operand(2);
  if (node.version() < 11) {
    const NodeReader& attributes = node.attributes();
    if (attributes.has("min")) low = node.number(attributes.number("min", 0), x->element());
    if (attributes.has("max")) high = node.number(attributes.number("max", 0), x->element());
  }
  if (low == nullptr && high == nullptr) return {x};
  return {node.result("clip", {x, low, high})};
}

Scalar cast_target(int64_t data_type) {
  const auto type = static_cast<int32_t>(data_type);
  const auto element = type == data_type ? element_of(type) : std::nullopt;
  if (!element) not_supported(fmt::format("to {}", data_type_name(type)));
  return *element;
}

Tensor cast_result(Conversion& node, Tensor x, Scalar to) {
  if (x->element() == to || x->type.elements() == 0) return node.cast(x, to);
  return node.result("cast", {{"to", std::string(ir::name_of(to))}}, {x});
}

std::vector<Tensor> convert_cast(Conversion& node) {
  return {cast_result(node, node.operand(0), cast_target(node.attributes().integer("to")))};
}

std::vector<Tensor> convert_cast_like(Conversion& node) {
  return {cast_result(node, node.operand(0), node.operand(1)->element())};
}

std::vector<Tensor> convert_is_inf(Conversion& node) {
  return {node.result("is_inf",
                      {{"positive", node.attributes().integer("detect_positive", 1)},
                       {"negative", node.attributes().integer("detect_negative", 1)}},
                      {node.operand(0)})};
}

std::vector<Tensor> convert_identity(Conversion& node) { return {node.operand(0)}; }

// At inference nothing is dropped: the mask is all true.
std::vector<Tensor> convert_dropout(Conversion& node) {
  const Tensor x = node.operand(0);
  const bool training =
      node.version() >= 12 && node.has(2) && node.known_integer(2, "training_mode") != 0;
  const double ratio = node.version() < 12 ? 0 : node.has(1) ? node.known_number(1, "ratio") : 0.5;
  if (training && ratio != 0) not_supported("in training mode");
  if (!node.wants(1)) return {x};
  return {x, node.broadcast(node.number(1, Scalar::Bool), x->shape())};
}

constexpr ConverterRow kRows[] = {
    {"Abs", direct<"abs">},
    {"Acos", direct<"acos">},
    {"Acosh", direct<"acosh">},
    {"Add", convert_add},
    {"And", direct<"and">},
    {"Asin", direct<"asin">},
    {"Asinh", direct<"asinh">},
    {"Atan", direct<"atan">},
    {"Atanh", direct<"atanh">},
    {"BitShift", convert_bit_shift},
    {"BitwiseAnd", direct<"bit_and">},
    {"BitwiseNot", direct<"bit_not">},
    {"BitwiseOr", direct<"bit_or">},
    {"BitwiseXor", direct<"bit_xor">},
    {"Cast", convert_cast},
    {"CastLike", convert_cast_like},
    {"Ceil", direct<"ceil">},
    {"Clip", convert_clip},
    {"Cos", direct<"cos">},
    {"Cosh", direct<"cosh">},
    {"Div", direct<"div">},
    {"Dropout", convert_dropout},
    {"Equal", direct<"equal">},
    {"Erf", direct<"erf">},
    {"Exp", direct<"exp">},
    {"Floor", direct<"floor">},
    {"Greater", direct<"greater">},
    {"GreaterOrEqual", direct<"greater_equal">},
    {"Identity", convert_identity},
    {"IsInf", convert_is_inf},
    {"IsNaN", direct<"is_nan">},
    {"Less", direct<"less">},
    {"LessOrEqual", direct<"less_equal">},
    {"Log", direct<"log">},
    {"Max", variadic<"max">},
    {"Mean", convert_mean},
    {"Min", variadic<"min">},
    {"Mod", convert_mod},
    {"Mul", direct<"mul">},
    {"Neg", direct<"neg">},
    {"Not", direct<"not">},
    {"Or", direct<"or">},
    {"Pow", convert_pow},
    {"Reciprocal", direct<"reciprocal">},
    {"Round", direct<"round">},
    {"Sign", direct<"sign">},
    {"Sin", direct<"sin">},
    {"Sinh", direct<"sinh">},
    {"Sqrt", direct<"sqrt">},
    {"Sub", direct<"sub">},
    {"Sum", variadic<"add">},
    {"Tan", direct<"tan">},
    {"Where", direct<"where">},
    {"Xor", direct<"xor">},
};

}  // namespace

std::span<const ConverterRow> elementwise_converters() { return kRows; }

}  // namespace tilewright::onnx
