#include "tests/onnx/run_case.h"

#include <fmt/format.h>
#include <onnx_subset.pb.h>

#include <cmath>
#include <map>

#include "graph/evaluate.h"
#include "graph/op_table.h"
#include "onnx/import.h"
#include "onnx/tensor_reader.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;
using graph::Graph;

Result<std::vector<Constant>> read_tensors(std::span<const std::string> protos) {
  std::vector<Constant> tensors;
  for (const std::string& bytes : protos) {
    const auto proto = std::make_shared<::onnx::TensorProto>();
    if (!proto->ParseFromString(bytes)) return fail(ErrorKind::BadInput, "a bad tensor");
    if (is_packed(proto->data_type())) {
      return fail(ErrorKind::Unsupported, fmt::format("elements of {} are not supported",
                                                      data_type_name(proto->data_type())));
    }
    auto tensor = TRY(TensorReader(proto, {}, int64_t{1} << 30).read(*proto));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

bool is_near(double got, double wanted, const NodeCase& node_case) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (std::isinf(wanted) || std::isinf(got)) return wanted == got;
  return std::abs(got - wanted) <= node_case.absolute + node_case.relative * std::abs(wanted);
}

// Empty where they agree.
std::string difference(const Constant& got, const Constant& wanted, const NodeCase& node_case) {
  if (got.type() != wanted.type()) {
    return fmt::format("the result is {}, not {}", got.type().to_string(),
                       wanted.type().to_string());
  }
  for (int64_t k = 0; k < wanted.type().elements(); ++k) {
    const bool same = ir::is_float(wanted.type().element)
                          ? is_near(got.number(k), wanted.number(k), node_case)
                          : got.integer(k) == wanted.integer(k);
    if (!same) return "the result differs";
  }
  return {};
}

using Named = std::map<std::string, Constant>;

Result<Named> named_inputs(const NodeCase& node_case, const ::onnx::ModelProto& model) {
  const auto tensors = TRY(read_tensors(node_case.inputs));
  Named inputs;
  for (size_t k = 0; k < tensors.size() && k < static_cast<size_t>(model.graph().input_size());
       ++k) {
    inputs[model.graph().input(static_cast<int>(k)).name()] = tensors[k];
  }
  return inputs;
}

// The inputs that an import requires as constants. An exporter would have written them as
// constants.
Named inputs_to_fix(const std::string& message, const Named& inputs) {
  constexpr std::string_view kSays = "must be known when the model is compiled";
  Named fixed;
  for (size_t at = message.find(kSays); at != std::string::npos; at = message.find(kSays, at + 1)) {
    const std::string line = message.substr(at, message.find('\n', at) - at);
    for (const auto& [name, value] : inputs) {
      if (line.contains(fmt::format("'{}'", name))) fixed[name] = value;
    }
  }
  return fixed;
}

Result<Graph> import_case(const NodeCase& node_case, const Named& inputs, bool* fixed) {
  const auto bytes = std::as_bytes(std::span(node_case.model));
  ImportOptions options;
  while (true) {
    auto graph = import_bytes(bytes, {}, options);
    if (graph) return graph;
    const size_t before = options.input_values.size();
    options.input_values.merge(inputs_to_fix(graph.error().message, inputs));
    if (options.input_values.size() == before) return graph;
    *fixed = true;
  }
}

CaseResult failed(const Error& error) {
  const bool unsupported = error.kind == ErrorKind::Unsupported;
  return {.outcome = unsupported ? Outcome::Unsupported : Outcome::Failed,
          .reason = error.message,
          .fixed_operands = false};
}

CaseResult compare_case(const NodeCase& node_case, const Compute& compute) {
  if (!node_case.tensors) {
    return {.outcome = Outcome::Unsupported,
            .reason = "inputs or outputs that are not tensors",
            .fixed_operands = false};
  }
  ::onnx::ModelProto model;
  if (!model.ParseFromString(node_case.model)) return {.reason = "a bad file"};
  const auto inputs = named_inputs(node_case, model);
  if (!inputs) return failed(inputs.error());
  const auto wanted = read_tensors(node_case.outputs);
  if (!wanted) return failed(wanted.error());
  CaseResult result;
  const auto graph = import_case(node_case, *inputs, &result.fixed_operands);
  if (!graph) return failed(graph.error());
  std::vector<Constant> values;
  for (const graph::ValueId input : graph->inputs()) {
    values.push_back(inputs->at(graph->value(input).name));
  }
  const auto got = compute(*graph, values);
  if (!got) return failed(got.error());
  if (got->size() != wanted->size()) {
    result.reason = fmt::format("{} results, not {}", got->size(), wanted->size());
    return result;
  }
  for (size_t k = 0; k < got->size(); ++k) {
    result.reason = difference((*got)[k], (*wanted)[k], node_case);
    if (!result.reason.empty()) return result;
  }
  result.outcome = Outcome::Passed;
  return result;
}

}  // namespace

Result<std::vector<Constant>> compute_by_evaluation(const Graph& graph,
                                                    std::span<const Constant> inputs) {
  std::vector<Constant> values(graph.value_count());
  for (graph::ValueId id = 0; id < graph.value_count(); ++id) {
    values[id] = graph.value(id).constant;
  }
  for (size_t k = 0; k < inputs.size(); ++k) values[graph.inputs()[k]] = inputs[k];
  for (const graph::Node& node : graph.nodes()) {
    std::vector<std::optional<graph::TensorType>> types;
    std::vector<Constant> operands;
    for (const graph::ValueId input : node.inputs) {
      types.push_back(input == graph::kNone ? std::nullopt
                                            : std::optional(graph.value(input).type));
      if (input != graph::kNone) operands.push_back(values[input]);
    }
    const auto dag = TRY(graph::find_op(node.op)->define(node.attributes, types));
    const auto results = TRY(graph::evaluate(*dag, operands));
    for (size_t k = 0; k < node.outputs.size(); ++k) values[node.outputs[k]] = results[k];
  }
  std::vector<Constant> outputs;
  for (const graph::ValueId output : graph.outputs()) outputs.push_back(values[output]);
  return outputs;
}

CaseResult run_case(const NodeCase& node_case, const Compute& compute) {
  try {
    return compare_case(node_case, compute);
  } catch (const std::exception& problem) {
    return {.outcome = Outcome::Crashed, .reason = problem.what(), .fixed_operands = false};
  }
}

}  // namespace tilewright::onnx
