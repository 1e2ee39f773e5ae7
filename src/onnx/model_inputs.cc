#include "onnx/model_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx_subset.pb.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "onnx/refusal.h"
#include "onnx/shapes.h"
#include "onnx/tensor_reader.h"

namespace tilewright::onnx {
namespace {

using ::onnx::TensorShapeProto;
using ::onnx::ValueInfoProto;

constexpr int64_t kSymbolic = -1;

using Symbols = std::map<std::string, int64_t>;  // extents of symbolic dimensions by name

struct DeclaredShape {
  bool has_rank = false;
  Shape extents;                    // kSymbolic if not known
  std::vector<std::string> labels;  // as in the file
};

DeclaredShape declared_shape(const ValueInfoProto& input) {
  const auto& tensor = input.type().tensor_type();
  DeclaredShape shape;
  shape.has_rank = tensor.has_shape();
  if (tensor.shape().dim_size() > static_cast<int>(kMaxDimensions)) {
    not_supported(fmt::format("input '{}' has {} dimensions; up to {} are supported",
                              shown(input.name()), tensor.shape().dim_size(), kMaxDimensions));
  }
  for (const TensorShapeProto::Dimension& dimension : tensor.shape().dim()) {
    // Some exporters write -1 for an unknown dimension.
    const bool is_known = dimension.has_dim_value() && dimension.dim_value() >= 0;
    shape.extents.push_back(is_known ? dimension.dim_value() : kSymbolic);
    shape.labels.push_back(is_known ? fmt::format("{}", dimension.dim_value())
                           : dimension.dim_param().empty() ? "?"
                                                           : shown(dimension.dim_param()));
  }
  return shape;
}

// A symbol that two inputs share has one extent.
void bind_symbols(const ValueInfoProto& input, const Shape& given, Symbols& symbols) {
  const TensorShapeProto& shape = input.type().tensor_type().shape();
  for (size_t k = 0; k < given.size() && k < static_cast<size_t>(shape.dim_size()); ++k) {
    const std::string& name = shape.dim(static_cast<int>(k)).dim_param();
    if (name.empty()) continue;
    const auto [at, is_new] = symbols.emplace(name, given[k]);
    if (!is_new && at->second != given[k]) {
      refuse(fmt::format("the given shapes make the dimension {} both {} and {}", shown(name),
                         at->second, given[k]),
             {{"input_shapes", ""}});
    }
  }
}

void resolve_symbols(const ValueInfoProto& input, const Symbols& symbols, DeclaredShape& declared) {
  const TensorShapeProto& shape = input.type().tensor_type().shape();
  for (size_t k = 0; k < declared.extents.size(); ++k) {
    const auto known = symbols.find(shape.dim(static_cast<int>(k)).dim_param());
    if (known != symbols.end()) declared.extents[k] = known->second;
  }
}

void check_given(const ValueInfoProto& input, const DeclaredShape& declared, const Shape& given) {
  if (std::ranges::any_of(given, [](int64_t extent) { return extent < 1; })) {
    refuse(fmt::format("'{}' is given the shape {}: extents are at least 1", shown(input.name()),
                       shape_text(given)),
           {{"input_shapes", ""}});
  }
  bool fits = !declared.has_rank || declared.extents.size() == given.size();
  for (size_t k = 0; fits && declared.has_rank && k < given.size(); ++k) {
    fits = declared.extents[k] <= 0 || declared.extents[k] == given[k];
  }
  if (!fits) {
    refuse(fmt::format("'{}' is given the shape {}, but the model has [{}]", shown(input.name()),
                       shape_text(given), fmt::join(declared.labels, ",")),
           {{"input_shapes", ""}});
  }
}

ir::Scalar element_of_input(const ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) {
    not_supported(fmt::format("input '{}' is not a tensor", shown(input.name())));
  }
  const int32_t type = input.type().tensor_type().elem_type();
  const auto element = element_of(type);
  if (!element) {
    not_supported(fmt::format("input '{}' has elements of {}, which are not supported",
                              shown(input.name()), data_type_name(type)));
  }
  return *element;
}

// `x:[1,3,224,224]`, with 1 for unknown extents; `x:[...]` for an unknown rank.
std::string suggestion(const ValueInfoProto& input, const DeclaredShape& declared) {
  if (!declared.has_rank) return fmt::format("{}:[...]", shown(input.name()));
  Shape shape = declared.extents;
  std::ranges::replace(shape, kSymbolic, int64_t{1});
  return fmt::format("{}:{}", shown(input.name()), shape_text(shape));
}

std::vector<const ValueInfoProto*> true_inputs(const ::onnx::GraphProto& graph) {
  std::unordered_set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  std::vector<const ValueInfoProto*> inputs;
  for (const ValueInfoProto& input : graph.input()) {
    if (!initialized.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

void check_names(const std::vector<const ValueInfoProto*>& inputs, const ImportOptions& options) {
  for (const auto& [name, shape] : options.input_shapes) {
    const bool is_there = std::ranges::any_of(
        inputs, [&](const ValueInfoProto* input) { return input->name() == name; });
    if (is_there) continue;
    std::vector<std::string> names;
    names.reserve(inputs.size());
    for (const ValueInfoProto* input : inputs)
      names.push_back(fmt::format("'{}'", shown(input->name())));
    refuse(fmt::format("a shape is given for '{}', which is not an input; the model has {}", name,
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
           {{"input_shapes", ""}});
  }
}

}  // namespace

std::vector<ModelInput> model_inputs(const ::onnx::GraphProto& graph,
                                     const ImportOptions& options) {
  const std::vector<const ValueInfoProto*> protos = true_inputs(graph);
  check_names(protos, options);
  Symbols symbols;
  for (const ValueInfoProto* input : protos) {
    const auto given = options.input_shapes.find(input->name());
    if (given == options.input_shapes.end()) continue;
    check_given(*input, declared_shape(*input), given->second);
    bind_symbols(*input, given->second, symbols);
  }
  std::vector<ModelInput> inputs;
  std::vector<std::string> symbolic;
  std::vector<std::string> suggestions;
  for (const ValueInfoProto* input : protos) {
    if (input->name().empty()) refuse("an input has no name");
    ModelInput made{.name = input->name(),
                    .type = {.element = element_of_input(*input), .shape = {}}};
    DeclaredShape declared = declared_shape(*input);
    resolve_symbols(*input, symbols, declared);
    const auto given = options.input_shapes.find(input->name());
    const bool is_open = !declared.has_rank || std::ranges::count(declared.extents, kSymbolic) != 0;
    if (given != options.input_shapes.end()) {
      made.type.shape = given->second;
    } else if (options.input_values.contains(input->name())) {
      made.type = options.input_values.at(input->name()).type();
    } else if (is_open) {
      symbolic.push_back(fmt::format(
          "'{}' ({})", shown(input->name()),
          declared.has_rank ? fmt::format("[{}]", fmt::join(declared.labels, ",")) : "no shape"));
      suggestions.push_back(suggestion(*input, declared));
    } else {
      made.type.shape = declared.extents;
    }
    const bool huge =
        std::ranges::any_of(made.type.shape, [](int64_t extent) { return extent > kMaxExtent; });
    if (huge || made.type.elements() > kMaxExtent) {
      not_supported(
          fmt::format("input '{}' is {}: too large", shown(input->name()), made.type.to_string()));
    }
    inputs.push_back(std::move(made));
  }
  if (!symbolic.empty()) {
    refuse(fmt::format("the shape of input {} is not fixed; give it", fmt::join(symbolic, ", ")),
           {{"input_shapes", fmt::format("{}", fmt::join(suggestions, ";"))}});
  }
  return inputs;
}

}  // namespace tilewright::onnx
