#include "layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace tilewright::layout {
namespace {

// Indices of the digits of a dimension, innermost first; a digit of extent 1 may share its divisor
// with the next one.
auto position(const Digit& digit) { return std::tuple(digit.dim, digit.divisor, digit.extent); }

bool is_outermost(const Layout& layout, const Digit& digit) {
  return std::ranges::none_of(layout.digits, [&](const Digit& other) {
    return other.dim == digit.dim && position(other) > position(digit);
  });
}

}  // namespace

Layout Layout::row_major(std::span<const int64_t> shape) {
  Layout layout;
  for (uint32_t d = 0; d < shape.size(); ++d) {
    layout.digits.push_back({.dim = d, .divisor = 1, .extent = shape[d]});
  }
  return layout;
}

Layout Layout::blocked(std::span<const int64_t> shape, uint32_t dim, int64_t block) {
  CHECK(dim < shape.size() && block >= 1, "blocks of {} in dimension {}", block, dim);
  Layout layout;
  layout.digits.push_back(
      {.dim = dim, .divisor = block, .extent = (shape[dim] + block - 1) / block});
  for (uint32_t d = 0; d < shape.size(); ++d) {
    if (d != dim) layout.digits.push_back({.dim = d, .divisor = 1, .extent = shape[d]});
  }
  layout.digits.push_back({.dim = dim, .divisor = 1, .extent = block});
  return layout;
}

bool Layout::is_row_major(std::span<const int64_t> shape) const {
  return !free && *this == row_major(shape);
}

bool Layout::holds(std::span<const int64_t> shape) const {
  if (free) return false;
  std::vector<Digit> sorted = digits;
  std::ranges::sort(sorted, {}, position);
  size_t next = 0;
  for (uint32_t d = 0; d < shape.size(); ++d) {
    int64_t covered = 1;  // number of indices that the digits so far distinguish
    for (; next < sorted.size() && sorted[next].dim == d; ++next) {
      if (sorted[next].divisor != covered || sorted[next].extent < 1) return false;
      if (__builtin_mul_overflow(covered, sorted[next].extent, &covered)) return false;
    }
    if (covered < shape[d]) return false;
  }
  return next == sorted.size();
}

int64_t Layout::elements() const {
  CHECK(!free, "an undecided layout has no size");
  int64_t product = 1;
  for (const Digit& digit : digits) product *= digit.extent;
  return product;
}

int64_t Layout::offset(std::span<const int64_t> indices) const {
  CHECK(!free, "an undecided layout has no offsets");
  int64_t offset = 0;
  for (const Digit& digit : digits) {
    const int64_t value = indices[digit.dim] / digit.divisor;
    offset = offset * digit.extent + (is_outermost(*this, digit) ? value : value % digit.extent);
  }
  return offset;
}

ir::Expr Layout::offset(std::span<const ir::Expr> indices) const {
  CHECK(!free, "an undecided layout has no offsets");
  ir::Expr offset;
  for (const Digit& digit : digits) {
    ir::Expr value = indices[digit.dim];
    if (digit.divisor != 1) value = value / digit.divisor;
    if (!is_outermost(*this, digit)) value = value % digit.extent;
    offset = offset.defined() ? offset * digit.extent + value : value;
  }
  return offset.defined() ? offset : ir::int_imm(0);
}

std::string Layout::to_string() const {
  if (free) return "free";
  std::vector<std::string> parts;
  for (const Digit& digit : digits) {
    std::string part = fmt::format("d{}", digit.dim);
    if (digit.divisor != 1) part += fmt::format("/{}", digit.divisor);
    if (!is_outermost(*this, digit)) part += fmt::format("%{}", digit.extent);
    parts.push_back(fmt::format("{}:{}", part, digit.extent));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

void Layout::hash_into(Hasher& hasher) const {
  hasher.add(free ? 1 : 0).add(digits.size());
  for (const Digit& digit : digits) {
    hasher.add(digit.dim).add_signed(digit.divisor).add_signed(digit.extent);
  }
}

}  // namespace tilewright::layout
