// Variants of an operator: each is a chain of oneDNN primitives. Operands are loaded and reordered
// when a variant is made, so that a call only executes primitives.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/peers/onednn/memory.h"

namespace onednn_peer {

using Json = nlohmann::json;

struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
  std::string implementation;  // as reported by oneDNN
};

struct Program {
  std::vector<Step> steps;
  std::function<memory(Context&)> output;  // after a call: row-major, as the files are
};

struct Variant {
  std::string name;
  std::function<Program(Context&)> make;  // throws dnnl::error if oneDNN does not support it
};

// The request of `prepare` (bench/harness/__init__.py), as far as operators need it.
struct Request {
  explicit Request(const Json& spec)
      : op(spec.at("workload").at("op").get<std::string>()),
        params(spec.at("workload").at("params")),
        shapes(spec.at("shapes")) {}

  Dims shape(const std::string& operand) const { return shapes.at(operand).get<Dims>(); }
  memory::dim param(const char* name, memory::dim otherwise) const {
    return params.value(name, otherwise);
  }

  std::string op;
  Json params, shapes;
};

// The choice of layouts. Plain: all row-major, as in the files. PackedWeights: oneDNN selects the
// layout of the weights. Free: oneDNN selects all layouts.
enum class Layout { Plain, PackedWeights, Free };

// One variant per Layout.
std::vector<Variant> in_all_layouts(const std::function<Program(Context&, Layout)>& make);

// The descriptor to request from oneDNN for an operand in the layout `user`.
memory::desc activation(const memory::desc& user, Layout layout);
memory::desc weight(const memory::desc& user, Layout layout);

// For Program::output: converts `output` to the layout of `user`.
std::function<memory(Context&)> laid_out(const memory& output, const memory::desc& user);

}  // namespace onednn_peer
