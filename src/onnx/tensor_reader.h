// Reads a TensorProto as a Constant. Bytes are shared with the parsed model or the mapped file of
// external data where the layout allows. The file is not trusted: shapes, counts and lengths are
// checked against each other before any allocation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "graph/constant.h"
#include "onnx/mapped_file.h"

namespace onnx {
class TensorProto;
}

namespace tilewright::onnx {

inline constexpr size_t kMaxDimensions = 16;  // of a tensor in a file

// The element type of a TensorProto_DataType; nothing if it is not supported.
std::optional<ir::Scalar> element_of(int32_t data_type);
// Four-bit integers, two per byte; constants of them are read as eight-bit integers.
bool is_packed(int32_t data_type);
std::string data_type_name(int32_t data_type);  // `float8e4m3fn`, `type 99`

// A constant without elements (a Constant with null bytes means no constant).
graph::Constant empty_constant(graph::TensorType type);

class TensorReader {
 public:
  // External data must be below one of `folders`. `owner` keeps the protos alive.
  TensorReader(std::shared_ptr<const void> owner, std::vector<std::filesystem::path> folders,
               int64_t max_bytes);

  // The caller adds the tensor's name to an error. Each tensor is read once.
  Result<graph::Constant> read(const ::onnx::TensorProto& tensor);

 private:
  Result<graph::Constant> read_uncached(const ::onnx::TensorProto& tensor);
  Result<graph::Constant> read_external(const ::onnx::TensorProto& tensor, graph::TensorType type);
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);

  std::shared_ptr<const void> owner_;
  std::vector<std::filesystem::path> folders_;
  int64_t bytes_left_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
  std::unordered_map<const ::onnx::TensorProto*, graph::Constant> known_;
};

}  // namespace tilewright::onnx
