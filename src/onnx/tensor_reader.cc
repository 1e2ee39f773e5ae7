#include "onnx/tensor_reader.h"

#include <fmt/format.h>
#include <onnx_subset.pb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "onnx/shapes.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;
using graph::TensorType;
using ir::Scalar;
using ::onnx::TensorProto;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::BadInput, std::move(message));
}

Result<TensorType> type_of(const TensorProto& tensor) {
  auto element = element_of(tensor.data_type());
  if (tensor.data_type() == TensorProto::INT4) element = Scalar::I8;
  if (tensor.data_type() == TensorProto::UINT4) element = Scalar::U8;
  if (!element) {
    return fail(ErrorKind::Unsupported, fmt::format("elements of {} are not supported",
                                                    data_type_name(tensor.data_type())));
  }
  if (tensor.dims_size() > static_cast<int>(kMaxDimensions)) {
    return fail(ErrorKind::Unsupported, fmt::format("{} dimensions; up to {} are supported",
                                                    tensor.dims_size(), kMaxDimensions));
  }
  TensorType type{.element = *element, .shape = {tensor.dims().begin(), tensor.dims().end()}};
  if (std::ranges::any_of(type.shape, [](int64_t extent) { return extent < 0; })) {
    return bad(fmt::format("its shape is {}: an extent is negative", type.to_string()));
  }
  const bool huge =
      std::ranges::any_of(type.shape, [](int64_t extent) { return extent > kMaxExtent; });
  if (huge || type.bytes() > int64_t{1} << 60) {
    return bad(fmt::format("its shape is {}: too large for memory", type.to_string()));
  }
  return type;
}

std::unexpected<Error> wrong_size(const TensorType& type, size_t has, std::string_view unit) {
  return bad(fmt::format("it is {} and has {} {}", type.to_string(), has, unit));
}

// Elements of a list of the proto, as the bytes of `Element`.
template <class Element, class List>
Result<Constant> from_list(TensorType type, const List& list) {
  const auto count = static_cast<size_t>(type.elements());
  if (static_cast<size_t>(list.size()) != count) {
    return wrong_size(type, static_cast<size_t>(list.size()), "elements");
  }
  std::vector<std::byte> bytes(count * sizeof(Element));
  for (size_t k = 0; k < count; ++k) {
    const auto value = static_cast<Element>(list.Get(static_cast<int>(k)));
    std::memcpy(bytes.data() + k * sizeof value, &value, sizeof value);
  }
  return Constant::of_bytes(std::move(type), std::move(bytes));
}

// Four-bit integers as eight-bit integers; the first of a pair is in the low half.
Constant unpacked(TensorType type, std::span<const std::byte> bytes) {
  const bool is_signed = type.element == Scalar::I8;
  std::vector<std::byte> wide(static_cast<size_t>(type.elements()));
  for (size_t k = 0; k < wide.size(); ++k) {
    const int nibble = (std::to_integer<int>(bytes[k / 2]) >> (k % 2 == 0 ? 0 : 4)) & 15;
    wide[k] = static_cast<std::byte>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  }
  return Constant::of_bytes(std::move(type), std::move(wide));
}

Result<Constant> from_fields(const TensorProto& tensor, TensorType type) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return from_list<float>(std::move(type), tensor.float_data());
    case TensorProto::DOUBLE:
      return from_list<double>(std::move(type), tensor.double_data());
    case TensorProto::INT64:
      return from_list<int64_t>(std::move(type), tensor.int64_data());
    case TensorProto::INT32:
      return from_list<int32_t>(std::move(type), tensor.int32_data());
    case TensorProto::UINT32:
      return from_list<uint32_t>(std::move(type), tensor.uint64_data());
    case TensorProto::BOOL:
      return from_list<bool>(std::move(type), tensor.int32_data());
    case TensorProto::INT4:
    case TensorProto::UINT4: {
      const auto pairs = static_cast<size_t>((type.elements() + 1) / 2);
      if (static_cast<size_t>(tensor.int32_data_size()) != pairs) {
        return wrong_size(type, static_cast<size_t>(tensor.int32_data_size()), "pairs");
      }
      std::vector<std::byte> bytes(pairs);
      std::ranges::transform(tensor.int32_data(), bytes.begin(),
                             [](int32_t pair) { return static_cast<std::byte>(pair & 255); });
      return unpacked(std::move(type), bytes);
    }
    default:
      break;
  }
  if (ir::bytes_of(type.element) == 1) {
    return from_list<uint8_t>(std::move(type), tensor.int32_data());
  }
  return from_list<uint16_t>(std::move(type),
                             tensor.int32_data());  // also the bits of f16 and bf16
}

// Bytes of the model or a file: shared if they can be read in place.
Constant from_bytes(TensorType type, std::shared_ptr<const void> owner,
                    std::span<const std::byte> bytes) {
  const bool odd_bool = type.element == Scalar::Bool &&
                        std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; });
  if (odd_bool) {
    std::vector<std::byte> clean(bytes.size());
    std::ranges::transform(bytes, clean.begin(), [](std::byte b) {
      return b == std::byte{0} ? std::byte{0} : std::byte{1};
    });
    return Constant::of_bytes(std::move(type), std::move(clean));
  }
  // NOLINTNEXTLINE(*-reinterpret-cast): its alignment
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (address % static_cast<uintptr_t>(ir::bytes_of(type.element)) != 0) {
    return Constant::of_bytes(std::move(type), {bytes.begin(), bytes.end()});
  }
  return {std::move(type), std::move(owner), bytes};
}

size_t stored_bytes(const TensorProto& tensor, const TensorType& type) {
  return static_cast<size_t>(is_packed(tensor.data_type()) ? (type.elements() + 1) / 2
                                                           : type.bytes());
}

Result<int64_t> natural(const std::string& key, const std::string& text) {
  int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    return bad(fmt::format("its external data has the {} '{}'", key, text));
  }
  return value;
}

struct ExternalPlace {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Result<ExternalPlace> external_place(const TensorProto& tensor) {
  ExternalPlace place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto number = TRY(natural(entry.key(), entry.value()));
    if (entry.key() == "offset") {
      place.offset = number;
    } else {
      place.length = number;
    }
  }
  if (place.location.empty()) return bad("its external data names no file");
  return place;
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [in_folder, in_path] = std::ranges::mismatch(folder, path);
  return in_folder == folder.end() && in_path != path.end();
}

}  // namespace

bool is_packed(int32_t data_type) {
  return data_type == TensorProto::INT4 || data_type == TensorProto::UINT4;
}

std::optional<Scalar> element_of(int32_t data_type) {
  switch (data_type) {
    case TensorProto::FLOAT:
      return Scalar::F32;
    case TensorProto::DOUBLE:
      return Scalar::F64;
    case TensorProto::FLOAT16:
      return Scalar::F16;
    case TensorProto::BFLOAT16:
      return Scalar::BF16;
    case TensorProto::BOOL:
      return Scalar::Bool;
    case TensorProto::INT8:
      return Scalar::I8;
    case TensorProto::UINT8:
      return Scalar::U8;
    case TensorProto::UINT16:
      return Scalar::U16;
    case TensorProto::UINT32:
      return Scalar::U32;
    case TensorProto::INT16:
      return Scalar::I16;
    case TensorProto::INT32:
      return Scalar::I32;
    case TensorProto::INT64:
      return Scalar::I64;
    default:
      return std::nullopt;
  }
}

std::string data_type_name(int32_t data_type) {
  if (!::onnx::TensorProto_DataType_IsValid(data_type)) return fmt::format("type {}", data_type);
  std::string name =
      ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(data_type));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

Constant empty_constant(TensorType type) {
  static constexpr std::byte kNowhere{};
  return {std::move(type), nullptr, std::span<const std::byte>(&kNowhere, 0)};
}

TensorReader::TensorReader(std::shared_ptr<const void> owner,
                           std::vector<std::filesystem::path> folders, int64_t max_bytes)
    : owner_(std::move(owner)), folders_(std::move(folders)), bytes_left_(max_bytes) {}

Result<Constant> TensorReader::read(const TensorProto& tensor) {
  if (const auto known = known_.find(&tensor); known != known_.end()) return known->second;
  auto constant = read_uncached(tensor);
  if (constant) known_.emplace(&tensor, *constant);
  return constant;
}

Result<Constant> TensorReader::read_uncached(const TensorProto& tensor) {
  auto type = TRY(type_of(tensor));
  if (type.elements() == 0) return empty_constant(std::move(type));
  if (type.bytes() > bytes_left_) {
    return fail(
        ErrorKind::Unsupported,
        fmt::format("it is {}: the model's constants take too much memory", type.to_string()));
  }
  bytes_left_ -= type.bytes();
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    return read_external(tensor, std::move(type));
  }
  if (!tensor.has_raw_data()) return from_fields(tensor, std::move(type));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(tensor.raw_data()));
  if (bytes.size() != stored_bytes(tensor, type)) return wrong_size(type, bytes.size(), "bytes");
  if (is_packed(tensor.data_type())) return unpacked(std::move(type), bytes);
  return from_bytes(std::move(type), owner_, bytes);
}

Result<Constant> TensorReader::read_external(const TensorProto& tensor, TensorType type) {
  const auto place = TRY(external_place(tensor));
  const auto file = TRY(open(place.location));
  const std::span<const std::byte> bytes = file->bytes();
  const size_t wanted = stored_bytes(tensor, type);
  if (place.length && static_cast<size_t>(*place.length) != wanted) {
    return wrong_size(type, static_cast<size_t>(*place.length), "bytes of external data");
  }
  const auto offset = static_cast<size_t>(place.offset);
  if (offset > bytes.size() || bytes.size() - offset < wanted) {
    return bad(fmt::format("it is {} in bytes {} to {} of {}, which has {}", type.to_string(),
                           offset, offset + wanted, place.location, bytes.size()));
  }
  const auto part = bytes.subspan(offset, wanted);
  if (is_packed(tensor.data_type())) return unpacked(std::move(type), part);
  return from_bytes(std::move(type), file, part);
}

Result<std::shared_ptr<const MappedFile>> TensorReader::open(const std::string& location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const std::filesystem::path relative(location);
  const bool climbs = std::ranges::find(relative, "..") != relative.end();
  if (location.contains('\0') || relative.is_absolute() || climbs || folders_.empty()) {
    return bad(fmt::format(
        "its external data is '{}', which is not a file in the folder of the model", location));
  }
  // Resolves links before the comparison.
  std::error_code problem;
  const auto path = std::filesystem::weakly_canonical(folders_.front() / relative, problem);
  const bool inside = !problem && std::ranges::any_of(folders_, [&](const auto& folder) {
    std::error_code missing;
    const auto below = std::filesystem::weakly_canonical(folder, missing);
    return !missing && is_below(path, below);
  });
  if (!inside) {
    return bad(fmt::format(
        "its external data is '{}', which is not a file in the folder of the model", location));
  }
  auto file = MappedFile::open(path);
  if (file) files_.emplace(location, *file);
  return file;
}

}  // namespace tilewright::onnx
