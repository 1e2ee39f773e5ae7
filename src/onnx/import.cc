#include "onnx/import.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx_subset.pb.h>

#include <charconv>
#include <climits>
#include <memory>

#include "onnx/importer.h"
#include "onnx/mapped_file.h"

namespace tilewright::onnx {
namespace {

using ::onnx::ModelProto;

std::unexpected<Error> bad_shapes(std::string_view text) {
  return fail(
      ErrorKind::BadInput,
      fmt::format("'{}' is not a list of shapes of inputs, which are separated by ';'", text),
      {{"input_shapes", "x:[1,3,224,224];y:[1]"}});
}

bool is_separator(char c) { return c == ';' || c == ' '; }

// Reads the numbers of `1, 3, 224]...`; `text` becomes the text after the bracket.
std::optional<std::vector<int64_t>> take_extents(std::string_view& text) {
  std::vector<int64_t> extents;
  while (true) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (text.starts_with(']') && extents.empty()) break;
    int64_t extent = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (code != std::errc{} || extent < 1) return std::nullopt;
    extents.push_back(extent);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (text.starts_with(']')) break;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
  text.remove_prefix(1);
  return extents;
}

Result<graph::Graph> import_model(std::span<const std::byte> bytes,
                                  std::vector<std::filesystem::path> folders,
                                  const ImportOptions& options) {
  if (bytes.size() > INT_MAX) {
    return fail(ErrorKind::Unsupported,
                "it is larger than the 2 GB that ONNX allows a file; save the model with its "
                "weights as external data");
  }
  if (bytes.empty()) return fail(ErrorKind::BadInput, "an empty file, not an ONNX model");
  google::protobuf::SetLogHandler(nullptr);  // errors are reported by this function
  auto model = std::make_shared<ModelProto>();
  // NOLINTNEXTLINE(*-reinterpret-cast): the byte type of the parser
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return fail(ErrorKind::BadInput, "not an ONNX model, or truncated");
  }
  return Importer(std::move(model), std::move(folders), options).run();
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Result<std::map<std::string, std::vector<int64_t>>> parse_input_shapes(std::string_view text) {
  std::map<std::string, std::vector<int64_t>> shapes;
  std::string_view rest = text;
  while (true) {
    while (!rest.empty() && is_separator(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) break;
    const size_t bracket = rest.find(":[");  // names may contain ':'
    if (bracket == std::string_view::npos || bracket == 0) return bad_shapes(text);
    const std::string name(rest.substr(0, bracket));
    rest.remove_prefix(bracket + 2);
    auto extents = take_extents(rest);
    if (!extents || (!rest.empty() && !is_separator(rest.front()))) return bad_shapes(text);
    if (!shapes.emplace(name, *std::move(extents)).second) {
      return fail(ErrorKind::BadInput, fmt::format("the input '{}' is given two shapes", name),
                  {{"input_shapes", ""}});
    }
  }
  if (shapes.empty()) return bad_shapes(text);
  return shapes;
}

Result<graph::Graph> import_file(const std::filesystem::path& path, const ImportOptions& options) {
  const auto file = TRY(MappedFile::open(path));
  std::vector<std::filesystem::path> folders{folder_of(path)};
  // Model caches store files under other names and link to them.
  std::error_code problem;
  const auto real = std::filesystem::canonical(path, problem);
  if (!problem) folders.push_back(real.parent_path());
  auto graph = import_model(file->bytes(), std::move(folders), options);
  if (!graph) graph.error().message = fmt::format("{}: {}", path.string(), graph.error().message);
  return graph;
}

Result<graph::Graph> import_bytes(std::span<const std::byte> bytes,
                                  const std::filesystem::path& folder,
                                  const ImportOptions& options) {
  std::vector<std::filesystem::path> folders;
  if (!folder.empty()) folders.push_back(folder);
  return import_model(bytes, std::move(folders), options);
}

}  // namespace tilewright::onnx
