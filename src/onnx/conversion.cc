#include "onnx/conversion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tilewright::onnx {
namespace {

using graph::Attributes;
using graph::Constant;
using graph::TensorType;

constexpr size_t kMaxOperands = 128;  // of one node; more become a tree

}  // namespace

Conversion::Conversion(GraphMaker& maker, const NodeReader& attributes,
                       std::vector<Tensor> operands, std::vector<std::string> outputs,
                       std::string name, int64_t version)
    : maker_(maker),
      attributes_(attributes),
      operands_(std::move(operands)),
      outputs_(std::move(outputs)),
      name_(std::move(name)),
      version_(version) {}

Tensor Conversion::operand(size_t k) const {
  if (!has(k)) refuse(fmt::format("operand {} is missing", k));
  if (operands_[k]->sequence) refuse(fmt::format("operand {} is a sequence", k));
  return operands_[k];
}

Tensor Conversion::optional_operand(size_t k) const { return has(k) ? operand(k) : nullptr; }

const std::vector<Tensor>& Conversion::operand_sequence(size_t k) const {
  if (!has(k)) refuse(fmt::format("operand {} is missing", k));
  if (!operands_[k]->sequence) refuse(fmt::format("operand {} is not a sequence", k));
  return *operands_[k]->sequence;
}

Constant Conversion::known(size_t k, std::string_view what) const {
  auto constant = maker_.constant_of(operand(k));
  if (!constant) {
    std::vector<std::string> inputs = maker_.inputs_behind(operand(k));
    for (std::string& name : inputs) name = fmt::format("'{}'", shown(name));
    not_supported(inputs.empty()
                      ? fmt::format("its {} takes too much work to compute", what)
                      : fmt::format("its {} must be known when the model is compiled, and depends "
                                    "on the input {}",
                                    what, fmt::join(inputs, ", ")));
  }
  return *std::move(constant);
}

Shape Conversion::known_integers(size_t k, std::string_view what) const {
  const Constant constant = known(k, what);
  if (!ir::is_integer(constant.type().element) || constant.type().shape.size() > 1) {
    refuse(fmt::format("its {} is {}, not a list of integers", what, constant.type().to_string()));
  }
  return constant.integers();
}

int64_t Conversion::known_integer(size_t k, std::string_view what) const {
  const Constant constant = known(k, what);
  if (ir::is_float(constant.type().element) || constant.type().elements() != 1) {
    refuse(fmt::format("its {} is {}, not one integer", what, constant.type().to_string()));
  }
  return constant.integer(0);
}

double Conversion::known_number(size_t k, std::string_view what) const {
  const Constant constant = known(k, what);
  if (constant.type().elements() != 1) {
    refuse(fmt::format("its {} is {}, not one number", what, constant.type().to_string()));
  }
  return constant.number(0);
}

Tensor Conversion::emit(std::string_view op, Attributes attributes, std::vector<Tensor> operands) {
  const std::string base = outputs_.empty() ? name_ : outputs_[0];
  return maker_.apply(op, std::move(attributes), operands,
                      {.name = fmt::format("{}.{}", base, op), .node = name_});
}

Tensor Conversion::result(std::string_view op, Attributes attributes, std::vector<Tensor> operands,
                          size_t k) {
  const std::string name = wants(k) ? outputs_[k] : fmt::format("{}.{}", name_, op);
  return maker_.apply(op, std::move(attributes), operands, {.name = name, .node = name_});
}

Tensor Conversion::constant(Constant value) { return maker_.known(std::move(value), name_); }

Tensor Conversion::number(double value, ir::Scalar element) {
  return constant(Constant::of_number(value, element));
}

Tensor Conversion::integers(const Shape& values) {
  if (values.empty()) return empty({.element = ir::Scalar::I64, .shape = {0}});
  return constant(Constant::of_integers({static_cast<int64_t>(values.size())}, values));
}

Tensor Conversion::empty(TensorType type) { return constant(empty_constant(std::move(type))); }

Tensor Conversion::sequence(std::vector<Tensor> tensors) {
  return maker_.sequence(std::move(tensors));
}

Tensor Conversion::reshape(Tensor x, Shape shape) {
  if (x->shape() == shape) return x;
  if (product(shape) != x->type.elements()) {
    refuse(fmt::format("{} cannot have the shape {}", x->type.to_string(), shape_text(shape)));
  }
  if (x->type.elements() == 0) return empty({.element = x->element(), .shape = std::move(shape)});
  return emit("reshape", {{"shape", std::move(shape)}}, {x});
}

Tensor Conversion::transpose(Tensor x, Shape permutation) {
  if (std::ranges::is_sorted(permutation)) return x;
  if (x->type.elements() == 0) {
    Shape shape;
    for (const int64_t axis : permutation) shape.push_back(x->shape()[static_cast<size_t>(axis)]);
    return empty({.element = x->element(), .shape = std::move(shape)});
  }
  return emit("transpose", {{"perm", std::move(permutation)}}, {x});
}

Tensor Conversion::broadcast(Tensor x, Shape shape) {
  if (x->shape() == shape) return x;
  if (product(shape) == 0) return empty({.element = x->element(), .shape = std::move(shape)});
  return emit("broadcast", {{"shape", std::move(shape)}}, {x});
}

Tensor Conversion::cast(Tensor x, ir::Scalar to) {
  if (x->element() == to) return x;
  if (x->type.elements() == 0) return empty({.element = to, .shape = x->shape()});
  return emit("cast", {{"to", std::string(ir::name_of(to))}}, {x});
}

Tensor Conversion::slice(Tensor x, Shape begin, Shape size, Shape step) {
  if (size == x->shape() && std::ranges::all_of(step, [](int64_t s) { return s == 1; })) return x;
  if (product(size) == 0) return empty({.element = x->element(), .shape = std::move(size)});
  return emit("slice",
              {{"begin", std::move(begin)}, {"size", std::move(size)}, {"step", std::move(step)}},
              {x});
}

Tensor Conversion::concat(const std::vector<Tensor>& parts, int64_t axis) {
  std::vector<Tensor> present;
  std::ranges::copy_if(parts, std::back_inserter(present),
                       [](Tensor part) { return part->type.elements() != 0; });
  if (present.empty()) {
    TensorType type = parts.at(0)->type;
    int64_t& extent = type.shape.at(static_cast<size_t>(axis));
    for (const Tensor part : parts) {
      if (part->rank() != type.shape.size() || part->element() != type.element) {
        refuse("its operands differ in type");
      }
      if (part != parts[0]) extent += part->shape()[static_cast<size_t>(axis)];
    }
    return empty(std::move(type));
  }
  while (present.size() > 1) {
    std::vector<Tensor> merged;
    for (size_t k = 0; k < present.size(); k += kMaxOperands) {
      const size_t end = std::min(present.size(), k + kMaxOperands);
      std::vector<Tensor> piece(present.begin() + static_cast<ptrdiff_t>(k),
                                present.begin() + static_cast<ptrdiff_t>(end));
      merged.push_back(piece.size() == 1 ? piece[0] : emit("concat", {{"axis", axis}}, piece));
    }
    present = std::move(merged);
  }
  return present[0];
}

Tensor Conversion::reduce(Tensor x, std::string_view kind, Shape axes, bool keep) {
  return emit("reduce",
              {{"kind", std::string(kind)}, {"axes", std::move(axes)}, {"keep", int64_t{keep}}},
              {x});
}

Tensor Conversion::fold(std::string_view op, std::span<const Tensor> operands) {
  if (operands.empty()) refuse("it has no operands");
  Tensor all = operands[0];
  for (size_t k = 1; k < operands.size(); ++k) all = emit(op, {all, operands[k]});
  return all;
}

}  // namespace tilewright::onnx
