#include "base/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Check, PassesSilently) { EXPECT_NO_THROW(CHECK(1 + 1 == 2)); }

TEST(Check, EvaluatesItsConditionOnce) {
  int count = 0;
  CHECK(++count == 1, "count is {}", count);
  EXPECT_EQ(count, 1);
}

TEST(Check, NamesConditionPlaceAndDetail) {
  try {
    const int index = 7;
    CHECK(index < 3, "index {} of {}", index, 3);
    FAIL() << "CHECK did not throw";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("src/base/check_test.cc:"));
    EXPECT_THAT(error.what(), testing::HasSubstr("CHECK(index < 3) failed: index 7 of 3"));
  }
}

TEST(Check, MessageWithoutDetailEndsAfterFailed) {
  try {
    CHECK(false);
    FAIL() << "CHECK did not throw";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::EndsWith("CHECK(false) failed"));
  }
}

}  // namespace
}  // namespace tilewright
