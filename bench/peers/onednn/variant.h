// What an operator is to the worker: variants, each a chain of oneDNN primitives. Operands are
// loaded and laid out when a variant is made, so a call executes primitives and nothing else.
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
  std::string implementation;  // what oneDNN says it chose
};

struct Program {
  std::vector<Step> steps;
  std::function<memory(Context&)> output;  // after a call: row-major, as the files are
};

struct Variant {
  std::string name;
  std::function<Program(Context&)> make;  // throws dnnl::error where oneDNN does not offer it
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

// Who chooses the layouts: Plain = row-major as the files have it; PackedWeights = oneDNN for the
// weights; Free = oneDNN for everything.
enum class Layout { Plain, PackedWeights, Free };

// One variant a layout.
std::vector<Variant> in_all_layouts(const std::function<Program(Context&, Layout)>& make);

// What to ask oneDNN for, given how the operand lies.
memory::desc activation(const memory::desc& user, Layout layout);
memory::desc weight(const memory::desc& user, Layout layout);

// For Program::output: `output` back in the user's layout.
std::function<memory(Context&)> laid_out(const memory& output, const memory::desc& user);

}  // namespace onednn_peer
