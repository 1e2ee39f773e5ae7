#include "base/sanitizer.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tilewright {
namespace {

// The sanitizers of the build: `address,undefined`, or empty.
constexpr std::string_view kOfBuild = TILEWRIGHT_SANITIZE;

// Whichever compiler is used.
TEST(Sanitizer, MatchesTheBuild) {
  EXPECT_EQ(kAddressSanitizer, kOfBuild.contains("address"));
  EXPECT_EQ(kThreadSanitizer, kOfBuild.contains("thread"));
  EXPECT_EQ(kSanitized, kAddressSanitizer || kThreadSanitizer);
}

TEST(Sanitizer, TimeLimitsOfTestsAndCodeScaleAlike) {
  EXPECT_EQ(kSanitizerSlowdown, TILEWRIGHT_TEST_SLOWDOWN);
}

}  // namespace
}  // namespace tilewright
