#include "tests/onnx/mutate.h"

#include <fmt/format.h>
#include <onnx_subset.pb.h>

#include <limits>
#include <span>

#include "base/rng.h"
#include "onnx/converter_table.h"
#include "onnx/import.h"

namespace tilewright::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

int64_t odd_number(Rng& rng) {
  constexpr int64_t kNumbers[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  -2,
                                  7,
                                  1000,
                                  65536,
                                  int64_t{1} << 31,
                                  int64_t{1} << 40,
                                  -(int64_t{1} << 40),
                                  std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()};
  return kNumbers[rng.below(std::size(kNumbers))];
}

float odd_float(Rng& rng) {
  constexpr float kNumbers[] = {0,
                                1,
                                -1,
                                0.5F,
                                1e30F,
                                -1e30F,
                                1e-30F,
                                std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()};
  return kNumbers[rng.below(std::size(kNumbers))];
}

void change_attribute(AttributeProto& attribute, Rng& rng) {
  if (attribute.has_i()) attribute.set_i(odd_number(rng));
  if (attribute.has_f()) attribute.set_f(odd_float(rng));
  if (attribute.ints_size() > 0) {
    const auto at = static_cast<int>(rng.below(static_cast<uint64_t>(attribute.ints_size())));
    attribute.set_ints(at, odd_number(rng));
  }
  if (rng.chance(0.1)) attribute.add_ints(odd_number(rng));
  if (rng.chance(0.1)) attribute.set_type(AttributeProto::FLOAT);
}

void change_node(NodeProto& node, const GraphProto& graph, Rng& rng) {
  switch (rng.below(4)) {
    case 0: {
      const auto rows = all_converters();
      const ConverterRow& row = rows[rng.below(rows.size())];
      node.set_op_type(std::string(row.op));
      node.set_domain(std::string(row.domain));
      break;
    }
    case 1: {
      if (node.input_size() == 0 || graph.input_size() == 0) break;
      const auto from = static_cast<int>(rng.below(static_cast<uint64_t>(graph.input_size())));
      const auto at = static_cast<int>(rng.below(static_cast<uint64_t>(node.input_size())));
      node.set_input(at, graph.input(from).name());
      break;
    }
    case 2:
      if (node.input_size() > 0 && rng.chance(0.5)) node.mutable_input()->RemoveLast();
      if (node.input_size() > 0 && rng.chance(0.5)) node.add_input(node.input(0));
      break;
    default:
      if (node.attribute_size() == 0) break;
      change_attribute(*node.mutable_attribute(static_cast<int>(
                           rng.below(static_cast<uint64_t>(node.attribute_size())))),
                       rng);
  }
}

void change_input(::onnx::ValueInfoProto& input, Rng& rng) {
  auto* tensor = input.mutable_type()->mutable_tensor_type();
  auto* shape = tensor->mutable_shape();
  if (rng.chance(0.2)) tensor->set_elem_type(static_cast<int32_t>(rng.below(12)));
  if (rng.chance(0.2)) shape->add_dim()->set_dim_value(static_cast<int64_t>(rng.below(4)));
  if (shape->dim_size() == 0) return;
  const auto at = static_cast<int>(rng.below(static_cast<uint64_t>(shape->dim_size())));
  shape->mutable_dim(at)->set_dim_value(rng.chance(0.5) ? odd_number(rng)
                                                        : static_cast<int64_t>(rng.below(6)));
}

// Lists of integers become constants, some of their numbers others.
void fix_lists(GraphProto& graph, Rng& rng) {
  for (const auto& input : graph.input()) {
    const auto& type = input.type().tensor_type();
    if (type.elem_type() != ::onnx::TensorProto::INT64 || type.shape().dim_size() > 1) continue;
    const int64_t count = type.shape().dim_size() == 0 ? 1 : type.shape().dim(0).dim_value();
    if (count < 0 || count > 16) continue;
    auto* constant = graph.add_initializer();
    constant->set_name(input.name());
    constant->set_data_type(::onnx::TensorProto::INT64);
    for (const auto& dimension : type.shape().dim()) constant->add_dims(dimension.dim_value());
    for (int64_t k = 0; k < count; ++k) {
      constant->add_int64_data(rng.chance(0.7) ? static_cast<int64_t>(rng.below(5))
                                               : odd_number(rng));
    }
  }
}

std::string mutated(const std::string& bytes, Rng& rng) {
  if (rng.chance(0.3)) {
    std::string changed = bytes;
    for (uint64_t left = 1 + rng.below(4); left > 0 && !changed.empty(); --left) {
      changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
    }
    return changed;
  }
  ModelProto model;
  if (!model.ParseFromString(bytes)) return bytes;
  GraphProto& graph = *model.mutable_graph();
  for (uint64_t left = 1 + rng.below(3); left > 0; --left) {
    if (graph.input_size() > 0 && rng.chance(0.5)) {
      const auto at = static_cast<int>(rng.below(static_cast<uint64_t>(graph.input_size())));
      change_input(*graph.mutable_input(at), rng);
    } else if (graph.node_size() > 0) {
      const auto at = static_cast<int>(rng.below(static_cast<uint64_t>(graph.node_size())));
      change_node(*graph.mutable_node(at), graph, rng);
    }
  }
  if (rng.chance(0.1) && model.opset_import_size() > 0) {
    model.mutable_opset_import(0)->set_version(static_cast<int64_t>(rng.below(30)));
  }
  if (rng.chance(0.7)) fix_lists(graph, rng);
  return model.SerializeAsString();
}

// Empty where it ended well.
std::string import_one(const std::string& bytes) {
  ImportOptions options;
  options.max_bytes = int64_t{1} << 26;
  try {
    const auto graph = import_bytes(std::as_bytes(std::span(bytes)), {}, options);
    return !graph && graph.error().message.empty() ? "an error without a message" : "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

}  // namespace

std::vector<std::string> import_mutations(const NodeCases& cases, size_t count) {
  std::vector<std::string> problems;
  for (size_t k = 0; k < cases.cases.size(); ++k) {
    for (size_t turn = 0; turn < count; ++turn) {
      Rng rng(turn * cases.cases.size() + k);
      const std::string problem = import_one(mutated(cases.cases[k].model, rng));
      if (problem.empty()) continue;
      problems.push_back(fmt::format("{}, changed by {}: {}", cases.cases[k].name, turn, problem));
    }
  }
  return problems;
}

}  // namespace tilewright::onnx
