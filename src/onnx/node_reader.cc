#include "onnx/node_reader.h"

#include <fmt/format.h>
#include <onnx_subset.pb.h>

#include <algorithm>

#include "onnx/refusal.h"

namespace tilewright::onnx {
namespace {

using ::onnx::AttributeProto;

[[noreturn]] void missing(std::string_view name) {
  refuse(fmt::format("the attribute {} is missing", name));
}

// Old files have no type; the field that is set determines the kind.
void want(const AttributeProto& attribute, bool is_it, std::string_view kind) {
  if (!is_it) refuse(fmt::format("the attribute {} is not {}", attribute.name(), kind));
}

bool is(const AttributeProto& attribute, AttributeProto::AttributeType type, bool field) {
  return attribute.type() == type || (attribute.type() == AttributeProto::UNDEFINED && field);
}

int64_t integer_of(const AttributeProto& attribute) {
  want(attribute, is(attribute, AttributeProto::INT, attribute.has_i()), "an integer");
  return attribute.i();
}

std::vector<int64_t> list_of(const AttributeProto& attribute) {
  want(attribute, is(attribute, AttributeProto::INTS, true), "a list of integers");
  return {attribute.ints().begin(), attribute.ints().end()};
}

}  // namespace

const AttributeProto* NodeReader::find(std::string_view name) const {
  read_names_.emplace(name);
  for (const AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    const auto given = call_.find(attribute.ref_attr_name());
    return given == call_.end() ? nullptr : given->second;
  }
  return nullptr;
}

std::string NodeReader::unread() const {
  // Attributes that do not change the result, or apply to training only.
  constexpr std::string_view kHarmless[] = {"consumed_inputs", "extrapolation_value",
                                            "is_test",         "keep_aspect_ratio_policy",
                                            "momentum",        "precision",
                                            "ratio",           "round_mode",
                                            "saturate",        "seed",
                                            "sorted",          "softmax_precision",
                                            "stash_type",      "storage_order"};
  for (const AttributeProto& attribute : node_.attribute()) {
    const std::string& name = attribute.name();
    if (!read_names_.contains(name) && std::ranges::find(kHarmless, name) == std::end(kHarmless)) {
      return name;
    }
  }
  return {};
}

int64_t NodeReader::integer(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  return integer_of(*attribute);
}

int64_t NodeReader::integer(std::string_view name, int64_t fallback) const {
  const AttributeProto* attribute = find(name);
  return attribute == nullptr ? fallback : integer_of(*attribute);
}

double NodeReader::number(std::string_view name, double fallback) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) return fallback;
  want(*attribute, is(*attribute, AttributeProto::FLOAT, attribute->has_f()), "a number");
  return static_cast<double>(attribute->f());
}

std::string NodeReader::text(std::string_view name, std::string_view fallback) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) return std::string(fallback);
  want(*attribute, is(*attribute, AttributeProto::STRING, attribute->has_s()), "a text");
  return attribute->s();
}

std::vector<int64_t> NodeReader::list(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  return list_of(*attribute);
}

std::vector<int64_t> NodeReader::list(std::string_view name, std::vector<int64_t> fallback) const {
  const AttributeProto* attribute = find(name);
  return attribute == nullptr ? std::move(fallback) : list_of(*attribute);
}

std::vector<double> NodeReader::numbers(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  want(*attribute, is(*attribute, AttributeProto::FLOATS, true), "a list of numbers");
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> NodeReader::texts(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  want(*attribute, is(*attribute, AttributeProto::STRINGS, true), "a list of texts");
  return {attribute->strings().begin(), attribute->strings().end()};
}

graph::Constant NodeReader::tensor(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  want(*attribute, is(*attribute, AttributeProto::TENSOR, attribute->has_t()), "a tensor");
  auto constant = tensors_.read(attribute->t());
  if (!constant) {
    constant.error().message = fmt::format("the attribute {}: {}", name, constant.error().message);
  }
  return required(std::move(constant));
}

const ::onnx::GraphProto& NodeReader::graph(std::string_view name) const {
  const AttributeProto* attribute = find(name);
  if (attribute == nullptr) missing(name);
  want(*attribute, is(*attribute, AttributeProto::GRAPH, attribute->has_g()), "a graph");
  return attribute->g();
}

}  // namespace tilewright::onnx
