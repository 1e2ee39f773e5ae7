#include "layout/repack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/check.h"

namespace tilewright::layout {
namespace {

using Shape = std::vector<int64_t>;

std::vector<std::pair<Shape, Layout>> cases() {
  return {
      {{6, 70}, Layout::row_major(Shape{6, 70})},
      {{6, 70}, Layout::blocked(Shape{6, 70}, 1, 32)},
      {{6, 70}, Layout::blocked(Shape{6, 70}, 0, 4)},
      {{3, 3, 5, 33}, Layout::blocked(Shape{3, 3, 5, 33}, 3, 16)},
      {{6, 70}, {.digits = {{1, 32, 3}, {0, 2, 3}, {1, 8, 4}, {0, 1, 2}, {1, 1, 8}}}},
      {{7}, {.digits = {{0, 1, 16}}}},
      {{}, Layout::row_major(Shape{})},
  };
}

template <class Word>
void round_trip(const Shape& shape, const Layout& layout) {
  const auto count = static_cast<size_t>(
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
  std::vector<Word> original(count), back(count);
  for (size_t k = 0; k < count; ++k) original[k] = static_cast<Word>(k % 255 + 1);
  std::vector<Word> packed(static_cast<size_t>(layout.elements()) + 1, Word{77});
  repack(shape, layout, sizeof(Word), original.data(), packed.data());
  EXPECT_EQ(packed.back(), Word{77}) << "wrote past the end";
  packed.pop_back();

  const auto zeros = static_cast<size_t>(std::count(packed.begin(), packed.end(), Word{0}));
  EXPECT_EQ(zeros, packed.size() - count) << "padding is zero, and nothing else is";
  Shape indices(shape.size());
  for (size_t k = 0; k < count; ++k) {
    ASSERT_EQ(packed[static_cast<size_t>(layout.offset(indices))], original[k]);
    for (size_t d = shape.size(); d > 0 && ++indices[d - 1] == shape[d - 1]; --d) {
      indices[d - 1] = 0;
    }
  }
  unpack(shape, layout, sizeof(Word), packed.data(), back.data());
  EXPECT_EQ(back, original);
}

TEST(Repack, RoundTripsWithZeroPadding) {
  for (const auto& [shape, layout] : cases()) {
    round_trip<uint8_t>(shape, layout);
    round_trip<uint16_t>(shape, layout);
    round_trip<uint32_t>(shape, layout);
    round_trip<uint64_t>(shape, layout);
  }
}

TEST(Repack, TakesShapeAndSizeFromATensor) {
  te::Tensor tensor;
  tensor.element = ir::Scalar::I8;
  tensor.shape = {2, 3};
  const Layout transposed{.digits = {{1, 1, 3}, {0, 1, 2}}};
  ASSERT_EQ(bytes_of(tensor, transposed), 6U);
  const std::string original = "abcdef";
  std::string packed(6, ' '), back(6, ' ');
  repack(tensor, transposed, original.data(), packed.data());
  EXPECT_EQ(packed, "adbecf");
  unpack(tensor, transposed, packed.data(), back.data());
  EXPECT_EQ(back, original);
}

TEST(Repack, RejectsLayoutsOfOtherShapes) {
  const float from[4] = {};
  float to[4] = {};
  EXPECT_THROW(repack(Shape{2, 2}, Layout::row_major(Shape{4}), 4, from, to), InternalError);
  EXPECT_THROW(repack(Shape{4}, Layout::undecided(), 4, from, to), InternalError);
  EXPECT_THROW(repack(Shape{4}, Layout::row_major(Shape{4}), 3, from, to), InternalError);
}

}  // namespace
}  // namespace tilewright::layout
