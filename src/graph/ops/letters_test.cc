#include "graph/ops/letters.h"

#include <gtest/gtest.h>

#include <set>

#include "base/check.h"

namespace tilewright::graph {
namespace {

TEST(Letters, FreshLetterIsUnused) {
  std::string taken = "ae";
  EXPECT_EQ(fresh_letter("ef", taken), 'f');
  EXPECT_EQ(fresh_letter("ef", taken), 'b');  // of those that are liked none is left
  EXPECT_EQ(taken, "aefb");
}

TEST(Letters, UpperAndLowerCaseAreAvailable) {
  std::string taken;
  std::set<char> seen;
  for (int k = 0; k < 52; ++k) seen.insert(fresh_letter("ghrs", taken));
  EXPECT_EQ(seen.size(), 52U);
  EXPECT_THROW(fresh_letter("ghrs", taken), InternalError);
}

}  // namespace
}  // namespace tilewright::graph
