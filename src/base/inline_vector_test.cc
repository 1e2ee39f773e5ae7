#include "base/inline_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace tilewright {
namespace {

using Four = InlineVector<int, 4>;

std::vector<int> contents(const Four& vector) { return {vector.begin(), vector.end()}; }

TEST(InlineVector, StartsEmptyAndFills) {
  Four vector;
  EXPECT_TRUE(vector.empty());
  for (int k = 0; k < 4; ++k) {
    EXPECT_FALSE(vector.full());
    vector.push_back(k);
  }
  EXPECT_TRUE(vector.full());
  EXPECT_EQ(vector.back(), 3);
  EXPECT_EQ(contents(vector), (std::vector{0, 1, 2, 3}));
}

TEST(InlineVector, OverflowIsACheck) {
  Four vector = {1, 2, 3, 4};
  EXPECT_THROW(vector.push_back(5), InternalError);
  EXPECT_THROW(vector.insert_at(0, 5), InternalError);
  EXPECT_THROW(vector.resize(5), InternalError);
  EXPECT_EQ(contents(vector), (std::vector{1, 2, 3, 4}));
}

TEST(InlineVector, InsertsAndErasesAnywhere) {
  for (size_t at = 0; at < 4; ++at) {
    Four vector = {1, 2, 3};
    vector.insert_at(at, 9);
    std::vector expected = {1, 2, 3};
    expected.insert(expected.begin() + static_cast<ptrdiff_t>(at), 9);
    EXPECT_EQ(contents(vector), expected) << "at " << at;
    vector.erase_at(at);
    EXPECT_EQ(contents(vector), (std::vector{1, 2, 3})) << "at " << at;
  }
}

TEST(InlineVector, ResizeGrowsWithFreshElements) {
  Four vector = {7, 8, 9};
  vector.resize(1);
  vector.resize(3);
  EXPECT_EQ(contents(vector), (std::vector{7, 0, 0}));
}

static_assert(std::is_trivially_copyable_v<Four>);
struct Large {
  int64_t one = 0, two = 0;
};
static_assert(!std::is_trivially_copyable_v<InlineVector<Large, 4>>);

TEST(InlineVector, EqualityIgnoresUnusedStorage) {
  Four longer = {1, 2, 3};
  longer.resize(2);
  EXPECT_EQ(longer, (Four{1, 2}));
  EXPECT_NE(longer, (Four{1, 2, 3}));
  EXPECT_NE(longer, (Four{1, 3}));
}

// Short ones are copied by a fixed number of bytes, long ones by their size, and
// vectors of vectors element by element.
TEST(InlineVector, CopiesAreEqual) {
  using Long = InlineVector<int64_t, 40>;
  for (size_t size = 0; size <= Long::kCapacity; ++size) {
    Long vector;
    for (size_t k = 0; k < size; ++k) vector.push_back(static_cast<int64_t>(k) + 1);
    const Long copy = vector;
    EXPECT_EQ(copy, vector) << size;
    Long other = {7, 7, 7};
    other = vector;
    EXPECT_EQ(other, vector) << size;
    const Long& self = other;
    other = self;
    EXPECT_EQ(other, vector) << size;
    InlineVector<Long, 3> nested;
    nested.push_back(vector);
    nested.push_back(copy);
    nested.insert_at(0, nested[1]);
    const auto nested_copy = nested;
    ASSERT_EQ(nested_copy.size(), 3u);
    for (const Long& each : nested_copy) EXPECT_EQ(each, vector) << size;
  }
}

TEST(InlineVector, WorksInConstantExpressions) {
  constexpr size_t size = [] {
    Four vector = {1, 2};
    vector.erase_at(0);
    return vector.size();
  }();
  static_assert(size == 1);
  constexpr Four copied = [] {
    const Four vector = {3, 4};
    Four copy = vector;
    copy = vector;
    return copy;
  }();
  static_assert(copied.size() == 2 && copied[1] == 4);
}

}  // namespace
}  // namespace tilewright
