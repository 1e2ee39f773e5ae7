#include "base/counted.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tilewright {
namespace {

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(1, "trial"), "1 trial");
  EXPECT_EQ(counted(uint64_t{0}, "trial"), "0 trials");
  EXPECT_EQ(counted(int64_t{1000}, "trial"), "1000 trials");
  EXPECT_EQ(counted(1, "library", "libraries"), "1 library");
  EXPECT_EQ(counted(2U, "library", "libraries"), "2 libraries");
}

}  // namespace
}  // namespace tilewright
