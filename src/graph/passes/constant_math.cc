#include "graph/passes/constant_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "graph/passes/rewrite.h"
#include "ir/element.h"

namespace tilewright::graph {
namespace {

size_t bytes_each(const Constant& constant) {
  return static_cast<size_t>(ir::bytes_of(constant.type().element));
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Strides of a tensor of `shape` along the axes of the broadcast shape; 0 for broadcast dimensions.
std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& shape, size_t rank) {
  const std::vector<int64_t> strides = strides_of(shape);
  std::vector<int64_t> result(rank, 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) result[rank - shape.size() + i] = strides[i];
  }
  return result;
}

// Copies columns to rows in square blocks, so that both stay in cache.
template <size_t kBytes>
void move_square(const std::byte* from, std::byte* to, std::array<int64_t, 2> extents,
                 std::array<int64_t, 2> from_strides, std::array<int64_t, 2> to_strides) {
  constexpr int64_t kSide = 32;
  for (int64_t i = 0; i < extents[0]; i += kSide) {
    for (int64_t j = 0; j < extents[1]; j += kSide) {
      const int64_t rows = std::min(extents[0], i + kSide);
      const int64_t columns = std::min(extents[1], j + kSide);
      for (int64_t y = i; y < rows; ++y) {
        for (int64_t x = j; x < columns; ++x) {
          const int64_t source = y * from_strides[0] + x * from_strides[1];
          const int64_t target = y * to_strides[0] + x * to_strides[1];
          std::memcpy(to + target * static_cast<int64_t>(kBytes),
                      from + source * static_cast<int64_t>(kBytes), kBytes);
        }
      }
    }
  }
}

// The result has `shape`, and a step along its dimension i is strides[i] elements of the source.
template <size_t kBytes>
void move_elements(const std::byte* from, std::byte* to, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& strides) {
  const std::vector<int64_t> own = strides_of(shape);
  const size_t last = shape.size() - 1;
  size_t column = last;  // the dimension that is consecutive in the source
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] == 1) column = i;
  }
  std::vector<int64_t> index(shape.size(), 0);
  const int64_t rows = column == last ? 1 : shape[column];
  while (true) {
    int64_t source = 0;
    int64_t target = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      source += index[i] * strides[i];
      target += index[i] * own[i];
    }
    move_square<kBytes>(from + source * static_cast<int64_t>(kBytes),
                        to + target * static_cast<int64_t>(kBytes), {rows, shape[last]},
                        {strides[column], strides[last]}, {own[column], own[last]});
    size_t axis = last;
    while (axis > 0) {
      --axis;
      if (axis == column) continue;
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
    if (std::ranges::all_of(index, [](int64_t at) { return at == 0; })) return;
  }
}

}  // namespace

std::vector<double> numbers_of(const Constant& constant) {
  std::vector<double> numbers(static_cast<size_t>(constant.type().elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = constant.number(static_cast<int64_t>(i));
  return numbers;
}

Constant of_numbers(const TensorType& type, std::span<const double> numbers) {
  const auto each = static_cast<size_t>(ir::bytes_of(type.element));
  CHECK(static_cast<size_t>(type.elements()) == numbers.size());
  std::vector<std::byte> bytes(numbers.size() * each);
  for (size_t i = 0; i < numbers.size(); ++i) {
    ir::write_element(bytes.data(), type.element, static_cast<int64_t>(i),
                      ir::convert(numbers[i], type.element));
  }
  return Constant::of_bytes(type, std::move(bytes));
}

Constant transposed(const Constant& constant, std::span<const int64_t> perm) {
  const TensorType& type = constant.type();
  CHECK(perm.size() == type.shape.size());
  const std::vector<int64_t> strides = strides_of(type.shape);
  std::vector<int64_t> moved(perm.size());
  TensorType result{.element = type.element, .shape = std::vector<int64_t>(perm.size())};
  for (size_t i = 0; i < perm.size(); ++i) {
    result.shape[i] = type.shape[static_cast<size_t>(perm[i])];
    moved[i] = strides[static_cast<size_t>(perm[i])];
  }
  std::vector<std::byte> bytes(constant.bytes().size());
  if (perm.empty()) return constant;
  switch (bytes_each(constant)) {
    case 1:
      move_elements<1>(constant.bytes().data(), bytes.data(), result.shape, moved);
      break;
    case 2:
      move_elements<2>(constant.bytes().data(), bytes.data(), result.shape, moved);
      break;
    case 4:
      move_elements<4>(constant.bytes().data(), bytes.data(), result.shape, moved);
      break;
    default:
      move_elements<8>(constant.bytes().data(), bytes.data(), result.shape, moved);
      break;
  }
  return Constant::of_bytes(std::move(result), std::move(bytes));
}

Constant scaled(const Constant& constant, size_t axis, std::span<const double> factors) {
  const std::vector<int64_t>& shape = constant.type().shape;
  CHECK(axis < shape.size() && factors.size() == static_cast<size_t>(shape[axis]));
  const auto inner = static_cast<size_t>(strides_of(shape)[axis]);
  const ir::Scalar element = constant.type().element;
  std::vector<std::byte> bytes(constant.bytes().size());
  const auto elements = static_cast<size_t>(constant.type().elements());
  for (size_t i = 0; i < elements; ++i) {
    const auto at = static_cast<int64_t>(i);
    const double value = constant.number(at) * factors[i / inner % factors.size()];
    ir::write_element(bytes.data(), element, at, ir::convert(value, element));
  }
  return Constant::of_bytes(constant.type(), std::move(bytes));
}

Constant scaled(const Constant& constant, double factor) {
  std::vector<double> numbers = numbers_of(constant);
  for (double& number : numbers) number *= factor;
  return of_numbers(constant.type(), numbers);
}

Constant combined(const Constant& a, const Constant& b, Combine how) {
  CHECK(a.type().element == b.type().element);
  const TensorType type{.element = a.type().element,
                        .shape = broadcast_shape(a.type().shape, b.type().shape)};
  const std::vector<int64_t> in_a = broadcast_strides(a.type().shape, type.shape.size());
  const std::vector<int64_t> in_b = broadcast_strides(b.type().shape, type.shape.size());
  std::vector<double> numbers(static_cast<size_t>(type.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t at_a = 0;
    int64_t at_b = 0;
    for (size_t axis = type.shape.size(); axis-- > 0; rest /= type.shape[axis]) {
      at_a += rest % type.shape[axis] * in_a[axis];
      at_b += rest % type.shape[axis] * in_b[axis];
    }
    const double x = a.number(at_a);
    const double y = b.number(at_b);
    switch (how) {
      case Combine::Add:
        numbers[i] = x + y;
        break;
      case Combine::Sub:
        numbers[i] = x - y;
        break;
      case Combine::Mul:
        numbers[i] = x * y;
        break;
      case Combine::Div:
        numbers[i] = x / y;
        break;
    }
  }
  return of_numbers(type, numbers);
}

bool all_finite(const Constant& constant) {
  for (int64_t i = 0; i < constant.type().elements(); ++i) {
    if (!std::isfinite(constant.number(i))) return false;
  }
  return true;
}

bool all_equal(const Constant& constant, double value) {
  for (int64_t i = 0; i < constant.type().elements(); ++i) {
    if (constant.number(i) != value) return false;
  }
  return true;
}

}  // namespace tilewright::graph
