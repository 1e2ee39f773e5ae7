#include "app/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"

namespace tilewright::app {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxElements = int64_t{1} << 40;

struct Described {
  std::string_view text;
  ir::Scalar element;
};
// Little-endian; single bytes have no byte order.
constexpr std::array kTypes = {
    Described{"<f4", ir::Scalar::F32},  Described{"<f8", ir::Scalar::F64},
    Described{"<f2", ir::Scalar::F16},  Described{"<i8", ir::Scalar::I64},
    Described{"<i4", ir::Scalar::I32},  Described{"<i2", ir::Scalar::I16},
    Described{"|i1", ir::Scalar::I8},   Described{"|u1", ir::Scalar::U8},
    Described{"|b1", ir::Scalar::Bool}, Described{"<u4", ir::Scalar::U32},
    Described{"<u2", ir::Scalar::U16},  Described{"<u2", ir::Scalar::BF16}};  // read as the first

// The text after `'key':` in the header, up to the comma or bracket that ends it.
std::optional<std::string_view> field_of(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  size_t begin = header.find(quoted);
  if (begin == std::string_view::npos) return {};
  begin = header.find_first_not_of(' ', begin + quoted.size());
  if (begin == std::string_view::npos) return {};
  const bool tuple = header[begin] == '(';
  const size_t end = header.find_first_of(tuple ? ")" : ",}", begin);
  if (end == std::string_view::npos) return {};
  return header.substr(begin, end - begin + (tuple ? 1 : 0));
}

std::optional<std::vector<int64_t>> shape_of(std::string_view text) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;  // the bracket
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0) return {};
    if (extent > 0 && elements > kMaxElements / extent) return {};
    elements *= extent;
    shape.push_back(extent);
    at = next;
  }
  return shape;
}

// Column-major to row-major.
std::vector<std::byte> turned(std::span<const std::byte> bytes, const std::vector<int64_t>& shape,
                              size_t element) {
  std::vector<std::byte> out(bytes.size());
  std::vector<int64_t> index(shape.size());
  for (size_t to = 0; to < bytes.size(); to += element) {
    int64_t from = 0;
    for (size_t d = shape.size(); d-- > 0;) from = from * shape[d] + index[d];
    std::memcpy(&out[to], &bytes[static_cast<size_t>(from) * element], element);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

Result<graph::Constant> parse_npy(std::string bytes, std::string_view name, ir::Scalar wanted) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorKind::BadInput, fmt::format("{}: {}", name, why));
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) return bad("is not a .npy file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return bad(fmt::format("is a .npy file of version {}; versions 1 to 3 are known", version));
  }
  const bool wide = version != 1;  // four bytes of length
  const size_t begin = wide ? 12 : 10;
  uint32_t length = 0;
  std::memcpy(&length, &bytes[8], wide ? 4 : 2);
  if (length > bytes.size() - begin) return bad("the file is cut off in its header");
  const std::string_view header = std::string_view(bytes).substr(begin, length);
  const auto descr = field_of(header, "descr"), order = field_of(header, "fortran_order");
  const auto shape_text = field_of(header, "shape");
  if (!descr || !order || !shape_text || !shape_text->starts_with('(') || descr->size() < 2) {
    return bad("its header is not understood");
  }
  const std::string_view type_text = descr->substr(1, descr->size() - 2);
  const auto* const type = std::ranges::find(kTypes, type_text, &Described::text);
  if (type == kTypes.end())
    return bad(fmt::format("elements of type {} are not supported", *descr));
  const auto shape = shape_of(*shape_text);
  if (!shape) return bad(fmt::format("the shape {} is not valid", *shape_text));
  const bool is_bf16 = type->element == ir::Scalar::U16 && wanted == ir::Scalar::BF16;
  const graph::TensorType tensor{.element = is_bf16 ? wanted : type->element, .shape = *shape};
  const size_t data = begin + length;
  if (tensor.bytes() != static_cast<int64_t>(bytes.size() - data)) {
    return bad(fmt::format("{} has {} bytes, but the file has {}", tensor.to_string(),
                           tensor.bytes(), bytes.size() - data));
  }
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  const std::span<const std::byte> view = std::as_bytes(std::span(*owner)).subspan(data);
  if (order->starts_with("True")) {
    return graph::Constant::of_bytes(
        tensor, turned(view, *shape, static_cast<size_t>(ir::bytes_of(tensor.element))));
  }
  return graph::Constant(tensor, owner, view);
}

Result<graph::Constant> read_npy(const std::filesystem::path& path, ir::Scalar wanted) {
  return parse_npy(TRY(read_file(path)), path.string(), wanted);
}

Status write_npy(const std::filesystem::path& path, const graph::TensorType& type,
                 std::string_view bytes) {
  const auto* const described = std::ranges::find(kTypes, type.element, &Described::element);
  std::string shape;
  for (const int64_t extent : type.shape) shape += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   described->text, shape);
  constexpr size_t kAlign = 64;
  const size_t whole = 10 + header.size() + 1;
  header.append((kAlign - whole % kAlign) % kAlign, ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xFFU);
  file += static_cast<char>(header.size() >> 8U);
  file += header;
  file += bytes;
  return write_file_atomically(path, file);
}

}  // namespace tilewright::app
