#include "graph/constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "base/saturating.h"
#include "graph/shape_text.h"
#include "ir/element.h"

namespace tilewright::graph {

int64_t TensorType::elements() const { return saturating_product(shape); }

int64_t TensorType::bytes() const {
  int64_t count = 0;
  const bool too_many = __builtin_mul_overflow(elements(), ir::bytes_of(element), &count);
  return too_many ? std::numeric_limits<int64_t>::max() : count;
}

std::string TensorType::to_string() const {
  return fmt::format("{}{}", ir::name_of(element), shape_text(shape));
}

Constant::Constant(TensorType type, std::shared_ptr<const void> owner,
                   std::span<const std::byte> bytes)
    : type_(std::move(type)), owner_(std::move(owner)), bytes_(bytes) {
  CHECK(bytes.data() != nullptr && static_cast<int64_t>(bytes.size()) == type_.bytes(),
        "{} bytes for {}", bytes.size(), type_.to_string());
}

Constant Constant::of_bytes(TensorType type, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return {std::move(type), std::move(owner), view};
}

Constant Constant::of_integers(std::vector<int64_t> shape, std::span<const int64_t> values,
                               ir::Scalar element) {
  CHECK(ir::is_integer(element) || element == ir::Scalar::Bool, "integers as {}",
        ir::name_of(element));
  TensorType type{.element = element, .shape = std::move(shape)};
  const auto width = static_cast<size_t>(ir::bytes_of(element));
  std::vector<std::byte> bytes(values.size() * width);
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t value = ir::wrap_integer(values[k], element);
    std::memcpy(bytes.data() + k * width, &value, width);  // little-endian
  }
  return of_bytes(std::move(type), std::move(bytes));
}

Constant Constant::of_number(double value, ir::Scalar element) {
  std::vector<std::byte> bytes(static_cast<size_t>(ir::bytes_of(element)));
  ir::write_element(bytes.data(), element, 0, ir::convert(value, element));
  return of_bytes({.element = element, .shape = {}}, std::move(bytes));
}

double Constant::number(int64_t offset) const {
  CHECK(offset >= 0 && offset < type_.elements(), "element {} of {}", offset, type_.to_string());
  return ir::read_element(bytes_.data(), type_.element, offset);
}

int64_t Constant::integer(int64_t offset) const {
  CHECK(!ir::is_float(type_.element), "{} has no integers", type_.to_string());
  if (type_.element != ir::Scalar::I64) return static_cast<int64_t>(number(offset));
  CHECK(offset >= 0 && offset < type_.elements(), "element {} of {}", offset, type_.to_string());
  int64_t value = 0;
  std::memcpy(&value, bytes_.data() + static_cast<size_t>(offset) * sizeof value, sizeof value);
  return value;
}

std::vector<int64_t> Constant::integers() const {
  std::vector<int64_t> all(static_cast<size_t>(type_.elements()));
  for (size_t k = 0; k < all.size(); ++k) all[k] = integer(static_cast<int64_t>(k));
  return all;
}

Constant Constant::reshaped(std::vector<int64_t> shape) const {
  return {{.element = type_.element, .shape = std::move(shape)}, owner_, bytes_};
}

Hash128 Constant::hash() const {
  Hasher hasher;
  hasher.add(static_cast<uint64_t>(type_.element)).add(type_.shape.size());
  for (const int64_t extent : type_.shape) hasher.add_signed(extent);
  // NOLINTNEXTLINE(*-reinterpret-cast): bytes as text
  hasher.add_text({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  return hasher.finish();
}

bool Constant::operator==(const Constant& other) const {
  return type_ == other.type_ && empty() == other.empty() &&
         std::ranges::equal(bytes_, other.bytes_);
}

}  // namespace tilewright::graph
