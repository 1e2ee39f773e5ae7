#include "base/inline_vector.h"

#include <gtest/gtest.h>

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

TEST(InlineVector, EqualityIgnoresWhatLiesBeyondTheEnd) {
  Four longer = {1, 2, 3};
  longer.resize(2);
  EXPECT_EQ(longer, (Four{1, 2}));
  EXPECT_NE(longer, (Four{1, 2, 3}));
  EXPECT_NE(longer, (Four{1, 3}));
}

TEST(InlineVector, WorksInConstantExpressions) {
  constexpr size_t size = [] {
    Four vector = {1, 2};
    vector.erase_at(0);
    return vector.size();
  }();
  static_assert(size == 1);
}

}  // namespace
}  // namespace tilewright
