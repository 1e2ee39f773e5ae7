// TensorProto to Constant. Bytes are shared with the parsed model or the mapped file of external
// data, never copied where they lie right already. Nothing of the file is trusted: shapes, counts
// and lengths are checked against each other before anything is allocated.
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

inline constexpr size_t kMostDimensions = 16;  // of a tensor in a file

// The element type of a TensorProto_DataType, none where there is no such type here.
std::optional<ir::Scalar> element_of(int32_t data_type);
// Four-bit integers, two a byte; constants of them are read as eight-bit ones.
bool is_packed(int32_t data_type);
std::string data_type_name(int32_t data_type);  // `float8e4m3fn`, `type 99`

// A constant without elements; Constants with null bytes stand for none at all.
graph::Constant empty_constant(graph::TensorType type);

class TensorReader {
 public:
  // External data must lie below one of `folders`. `owner` keeps the protos alive.
  TensorReader(std::shared_ptr<const void> owner, std::vector<std::filesystem::path> folders,
               int64_t most_bytes);

  // An error says what is wrong; the caller says where. The same tensor is read once.
  Result<graph::Constant> read(const ::onnx::TensorProto& tensor);

 private:
  Result<graph::Constant> read_anew(const ::onnx::TensorProto& tensor);
  Result<graph::Constant> read_external(const ::onnx::TensorProto& tensor, graph::TensorType type);
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);

  std::shared_ptr<const void> owner_;
  std::vector<std::filesystem::path> folders_;
  int64_t bytes_left_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
  std::unordered_map<const ::onnx::TensorProto*, graph::Constant> known_;
};

}  // namespace tilewright::onnx
