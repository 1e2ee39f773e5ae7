// ONNX's node tests, as make_node_tests.py wrote them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace tilewright::onnx {

struct NodeCase {
  std::string name;
  double relative = 0;  // tolerance: |got - wanted| <= absolute + relative * |wanted|
  double absolute = 0;
  bool tensors = true;  // all inputs and outputs are
  std::vector<std::string> operators;
  std::vector<std::string> types;  // of inputs and outputs, as ONNX names them
  std::string model;               // protobuf, like the following members
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

struct NodeCases {
  std::string onnx_version;
  std::map<std::string, std::vector<int64_t>> operators;  // the versions at which each changed
  std::vector<NodeCase> cases;
};

Result<NodeCases> read_node_cases(const std::filesystem::path& path);

}  // namespace tilewright::onnx
