#include "tests/onnx/node_cases.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace tilewright::onnx {
namespace {

// Takes lines and blocks off the front of a text.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : rest_(text) {}
  bool at_end() const { return rest_.empty(); }
  Result<Json> line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return fail(ErrorKind::BadInput, "a line is cut short");
    auto json = parse_json(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return json;
  }
  std::string block(size_t size) {
    std::string bytes(rest_.substr(0, size));
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

 private:
  std::string_view rest_;
};

NodeCase read_case(const Json& header, Pieces& pieces) {
  NodeCase made;
  made.name = header.at("name").get<std::string>();
  made.relative = header.at("rtol").get<double>();
  made.absolute = header.at("atol").get<double>();
  made.tensors = header.at("tensors").get<bool>();
  made.operators = header.at("operators").get<std::vector<std::string>>();
  made.types = header.at("types").get<std::vector<std::string>>();
  made.model = pieces.block(header.at("model").get<size_t>());
  for (const size_t size : header.at("inputs").get<std::vector<size_t>>()) {
    made.inputs.push_back(pieces.block(size));
  }
  for (const size_t size : header.at("outputs").get<std::vector<size_t>>()) {
    made.outputs.push_back(pieces.block(size));
  }
  return made;
}

}  // namespace

Result<NodeCases> read_node_cases(const std::filesystem::path& path) {
  const auto text = TRY(read_file(path));
  Pieces pieces(text);
  const auto about = TRY(pieces.line());
  NodeCases all;
  all.onnx_version = about.at("onnx").get<std::string>();
  for (const auto& [name, versions] : about.at("operators").items()) {
    all.operators[name] = versions.get<std::vector<int64_t>>();
  }
  while (!pieces.at_end()) {
    const auto header = TRY(pieces.line());
    all.cases.push_back(read_case(header, pieces));
  }
  return all;
}

}  // namespace tilewright::onnx
