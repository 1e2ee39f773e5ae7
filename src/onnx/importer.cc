#include "onnx/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "onnx/converter_table.h"
#include "onnx/model_inputs.h"

namespace tilewright::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr int64_t kOldest = 7;
constexpr int64_t kNewest = 28;
constexpr int kMaxDepth = 64;           // of functions that call functions
constexpr size_t kMaxNodes = 1U << 18;  // after functions are inlined

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

template <class Imports>
std::map<std::string, int64_t, std::less<>> versions_of(const Imports& imports) {
  std::map<std::string, int64_t, std::less<>> versions;
  for (const auto& import : imports) {
    const std::string domain(plain_domain(import.domain()));
    if (domain.empty() && (import.version() < kOldest || import.version() > kNewest)) {
      not_supported(fmt::format("the model uses operator set {}; those from {} to {} are supported",
                                import.version(), kOldest, kNewest));
    }
    versions.insert_or_assign(domain, import.version());
  }
  return versions;
}

// All names that the node reads, including those read by graphs in its attributes.
void collect_reads(const NodeProto& node, std::unordered_set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const AttributeProto& attribute : node.attribute()) {
    const auto collect_graph = [&](const GraphProto& graph) {
      for (const NodeProto& inner : graph.node()) collect_reads(inner, names);
      for (const auto& output : graph.output()) names.insert(output.name());
    };
    if (attribute.has_g()) collect_graph(attribute.g());
    for (const GraphProto& graph : attribute.graphs()) collect_graph(graph);
  }
}

template <class Outputs>
std::vector<std::string> names_of(const Outputs& outputs) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(outputs.size()));
  for (const auto& output : outputs) names.push_back(output.name());
  return names;
}

std::string unsupported_message(const std::vector<std::string>& nodes) {
  return fmt::format("{} not supported:\n  {}",
                     nodes.size() == 1 ? "1 node of the model is"
                                       : fmt::format("{} nodes of the model are", nodes.size()),
                     fmt::join(nodes, "\n  "));
}

}  // namespace

Importer::Importer(std::shared_ptr<const ::onnx::ModelProto> model,
                   std::vector<std::filesystem::path> folders, const ImportOptions& options)
    : model_(std::move(model)),
      options_(options),
      tensors_(model_, std::move(folders), options.max_bytes),
      maker_(options.max_bytes),
      nodes_left_(kMaxNodes) {}

Result<graph::Graph> Importer::run() {
  try {
    return import_model();
  } catch (Refusal& refusal) {
    return std::unexpected(std::move(refusal.error));
  }
}

graph::Graph Importer::import_model() {
  const GraphProto& graph = model_->graph();
  if (!model_->has_graph() || graph.output_size() == 0) refuse("the model has no outputs");
  const Frame frame{
      .versions = versions_of(model_->opset_import()), .attributes = {}, .prefix = {}, .depth = 0};
  read_functions();
  Scope scope;
  read_initializers(graph, scope);
  read_inputs(scope);
  std::vector<std::string> names = names_of(graph.output());
  const std::vector<Tensor> outputs = convert_nodes(graph.node(), names, frame, scope);
  if (!unsupported_.empty()) not_supported(unsupported_message(unsupported_));
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k] == nullptr || outputs[k]->sequence) {
      not_supported(fmt::format("output '{}' is not a tensor", shown(names[k])));
    }
    if (outputs[k]->type.elements() == 0) {
      not_supported(fmt::format("output '{}' has no elements ({})", shown(names[k]),
                                outputs[k]->type.to_string()));
    }
  }
  return std::move(maker_).finish(outputs, std::move(names));
}

void Importer::read_functions() {
  for (const FunctionProto& function : model_->functions()) {
    const auto [at, is_new] =
        functions_.try_emplace(std::tuple(std::string(plain_domain(function.domain())),
                                          function.name(), function.overload()),
                               &function);
    if (!is_new) refuse(fmt::format("the function '{}' is defined twice", shown(function.name())));
  }
}

void Importer::read_inputs(Scope& scope) {
  for (ModelInput& input : model_inputs(model_->graph(), options_)) {
    const auto value = options_.input_values.find(input.name);
    Tensor tensor = nullptr;
    if (value != options_.input_values.end()) {
      tensor = maker_.known(value->second, input.name);
    } else if (input.type.elements() == 0) {  // an empty tensor is known
      tensor = maker_.known(empty_constant(std::move(input.type)), input.name);
    } else {
      tensor = maker_.input(input.name, std::move(input.type));
    }
    define(scope, input.name, tensor);
  }
}

void Importer::read_initializers(const GraphProto& graph, Scope& scope) {
  for (const ::onnx::TensorProto& tensor : graph.initializer()) {
    if (!scope.initializers.try_emplace(tensor.name(), &tensor).second) {
      refuse(fmt::format("'{}' is defined twice", shown(tensor.name())));
    }
  }
  for (const ::onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
    unsupported_.push_back(fmt::format("'{}' (sparse initializer)", shown(sparse.values().name())));
    define(scope, sparse.values().name(), maker_.lost());
  }
}

std::vector<Tensor> Importer::convert_nodes(const Nodes& nodes,
                                            const std::vector<std::string>& outputs,
                                            const Frame& frame, Scope& scope) {
  std::unordered_set<std::string> wanted(outputs.begin(), outputs.end());
  std::vector<const NodeProto*> needed;
  for (int k = nodes.size(); k-- > 0;) {
    const NodeProto& node = nodes.Get(k);
    const bool is_needed = std::ranges::any_of(node.output(), [&](const std::string& name) {
      return !name.empty() && wanted.contains(name);
    });
    if (!is_needed) continue;
    collect_reads(node, wanted);
    needed.push_back(&node);
  }
  std::ranges::reverse(needed);
  for (const NodeProto* node : needed) convert_node(*node, frame, scope);
  std::vector<Tensor> results;
  results.reserve(outputs.size());
  for (const std::string& output : outputs) results.push_back(find(scope, output));
  return results;
}

void Importer::convert_node(const NodeProto& node, const Frame& frame, Scope& scope) {
  if (nodes_left_ == 0) {
    throw Refusal{.error = {.kind = ErrorKind::Unsupported,
                            .message = fmt::format("the model has more than {} nodes once its "
                                                   "functions are written out",
                                                   kMaxNodes)},
                  .located = true};
  }
  if (const Status status = check_not_stopped(options_.stop); !status) {
    throw Refusal{.error = status.error(), .located = true};
  }
  --nodes_left_;
  const std::string& own = node.name().empty() ? node.output(0) : node.name();
  const std::string name = frame.prefix + shown(own);
  const auto count = static_cast<size_t>(node.output_size());
  std::vector<Tensor> results;
  try {
    results = results_of(node, name, frame, scope);
    results.resize(std::max(results.size(), count), nullptr);
    for (size_t k = 0; k < count; ++k) {
      if (results[k] == nullptr && !node.output(static_cast<int>(k)).empty()) {
        not_supported(
            fmt::format("its result {} ('{}')", k, shown(node.output(static_cast<int>(k)))));
      }
    }
  } catch (Refusal& refusal) {
    if (refusal.located) throw;
    const std::string where = fmt::format("'{}' ({})", name, shown(node.op_type()));
    if (refusal.error.kind != ErrorKind::Unsupported) {
      refusal.error.message = fmt::format("node {}: {}", where, refusal.error.message);
      refusal.located = true;
      throw;
    }
    unsupported_.push_back(refusal.error.message.empty()
                               ? where
                               : fmt::format("{}: {}", where, refusal.error.message));
    results.assign(count, maker_.lost());
  }
  for (size_t k = 0; k < count; ++k) {
    const std::string& output = node.output(static_cast<int>(k));
    if (!output.empty()) define(scope, output, results[k]);
  }
}

std::vector<Tensor> Importer::results_of(const NodeProto& node, const std::string& name,
                                         const Frame& frame, Scope& scope) {
  std::vector<Tensor> operands;
  operands.reserve(static_cast<size_t>(node.input_size()));
  for (const std::string& input : node.input()) {
    operands.push_back(input.empty() ? nullptr : find(scope, input));
  }
  const bool any_lost =
      std::ranges::any_of(operands, [](Tensor t) { return t != nullptr && t->lost; });
  std::vector<Tensor> all_lost(static_cast<size_t>(node.output_size()), maker_.lost());
  if (const FunctionProto* function = function_of(node)) {
    return call(*function, node, operands, name, frame);
  }
  const NodeReader attributes(node, frame.attributes, tensors_);
  const std::string_view domain = plain_domain(node.domain());
  if (domain.empty() && node.op_type() == "If" && !operands.empty()) {
    return any_lost ? all_lost : branch(attributes, operands[0], frame, scope);
  }
  const Converter convert = find_converter(domain, node.op_type());
  if (convert == nullptr) {
    not_supported(domain.empty() ? "" : fmt::format("of the domain {}", shown(domain)));
  }
  if (any_lost) return all_lost;
  std::vector<std::string> outputs;  // as names of values
  outputs.reserve(static_cast<size_t>(node.output_size()));
  for (const std::string& output : node.output()) outputs.push_back(shown(output));
  Conversion conversion(maker_, attributes, std::move(operands), std::move(outputs), name,
                        version_of(node, frame));
  std::vector<Tensor> results = convert(conversion);
  if (const std::string name = attributes.unread(); !name.empty()) {
    not_supported(fmt::format("its attribute {}", shown(name)));
  }
  return results;
}

std::vector<Tensor> Importer::call(const FunctionProto& function, const NodeProto& node,
                                   const std::vector<Tensor>& operands, const std::string& name,
                                   const Frame& frame) {
  if (frame.depth >= kMaxDepth) refuse("its function calls itself, or calls are too deep");
  if (operands.size() > static_cast<size_t>(function.input_size())) {
    refuse(fmt::format("{} operands for a function of {}", operands.size(), function.input_size()));
  }
  Frame inner{.versions = versions_of(function.opset_import()),
              .attributes = {},
              .prefix = shown(name) + "/",
              .depth = frame.depth + 1};
  inner.versions.insert(frame.versions.begin(), frame.versions.end());
  for (const AttributeProto& fallback : function.attribute_proto()) {
    inner.attributes.insert_or_assign(fallback.name(), &fallback);
  }
  const NodeReader given(node, frame.attributes, tensors_);
  for (const AttributeProto& attribute : node.attribute()) {
    const AttributeProto* value = given.find(attribute.name());
    if (value != nullptr) inner.attributes.insert_or_assign(attribute.name(), value);
  }
  Scope scope;
  for (int k = 0; k < function.input_size(); ++k) {
    const auto at = static_cast<size_t>(k);
    define(scope, function.input(k), at < operands.size() ? operands[at] : nullptr);
  }
  const std::vector<std::string> outputs(function.output().begin(), function.output().end());
  return convert_nodes(function.node(), outputs, inner, scope);
}

std::vector<Tensor> Importer::branch(const NodeReader& attributes, Tensor condition,
                                     const Frame& frame, Scope& scope) {
  if (frame.depth >= kMaxDepth) refuse("branches are too deep");
  const auto known = condition == nullptr ? std::nullopt : maker_.constant_of(condition);
  if (!known) {
    std::vector<std::string> inputs =
        condition == nullptr ? std::vector<std::string>() : maker_.inputs_behind(condition);
    for (std::string& name : inputs) name = fmt::format("'{}'", shown(name));
    not_supported(
        fmt::format("its condition must be known when the model is compiled, and depends "
                    "on the input {}",
                    fmt::join(inputs, ", ")));
  }
  if (known->type().element != ir::Scalar::Bool || known->type().elements() != 1) {
    refuse(fmt::format("its condition is {}", known->type().to_string()));
  }
  const GraphProto& graph =
      attributes.graph(known->integer(0) != 0 ? "then_branch" : "else_branch");
  Frame inner = frame;
  ++inner.depth;
  Scope within{.parent = &scope, .tensors = {}, .initializers = {}};
  read_initializers(graph, within);
  return convert_nodes(graph.node(), names_of(graph.output()), inner, within);
}

const FunctionProto* Importer::function_of(const NodeProto& node) const {
  const auto at = functions_.find(
      std::tuple(std::string(plain_domain(node.domain())), node.op_type(), node.overload()));
  return at == functions_.end() ? nullptr : at->second;
}

int64_t Importer::version_of(const NodeProto& node, const Frame& frame) const {
  const auto at = frame.versions.find(plain_domain(node.domain()));
  if (at != frame.versions.end()) return at->second;
  if (!plain_domain(node.domain()).empty()) return 1;
  refuse("the model does not say which operator set it uses");
}

Tensor Importer::find(Scope& scope, const std::string& name) {
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    if (const auto tensor = at->tensors.find(name); tensor != at->tensors.end()) {
      return tensor->second;
    }
    const auto initializer = at->initializers.find(name);
    if (initializer == at->initializers.end()) continue;
    auto constant = tensors_.read(*initializer->second);
    if (!constant) {
      constant.error().message =
          fmt::format("initializer '{}': {}", shown(name), constant.error().message);
    }
    const Tensor tensor = maker_.known(required(std::move(constant)), name);
    tensor->packed = is_packed(initializer->second->data_type());
    at->tensors.emplace(name, tensor);
    return tensor;
  }
  refuse(fmt::format("'{}' is used before anything defines it", shown(name)));
}

void Importer::define(Scope& scope, const std::string& name, Tensor tensor) {
  if (scope.initializers.contains(name) || !scope.tensors.try_emplace(name, tensor).second) {
    throw Refusal{.error = {.kind = ErrorKind::BadInput,
                            .message = fmt::format("'{}' is defined twice", shown(name))},
                  .located = true};
  }
}

}  // namespace tilewright::onnx
