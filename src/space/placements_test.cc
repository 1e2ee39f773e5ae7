#include "space/placements.h"

#include <gtest/gtest.h>

namespace tilewright::space {
namespace {

using All = std::vector<std::vector<int>>;

TEST(Placements, NoMembersHaveOnePlacement) { EXPECT_EQ(placements_of({}, 2), All{{}}); }

TEST(Placements, OneMemberMayBeAtRootOrAnyLoop) {
  const PlacedMember member{.readers = {kNestItself}};
  EXPECT_EQ(placements_of({member}, 2), (All{{kAtRoot}, {0}, {1}}));
  EXPECT_EQ(placements_of({member}, 0), (All{{kAtRoot}}));
  const PlacedMember cheap{.readers = {kNestItself}, .may_inline = true};
  EXPECT_EQ(placements_of({cheap}, 1), (All{{kInlined}, {kAtRoot}, {0}}));
  const PlacedMember bound{.readers = {kNestItself}, .outermost = 1};
  EXPECT_EQ(placements_of({bound}, 3), (All{{1}, {2}}));
}

// Through an inlined reader too.
TEST(Placements, AreNotInsideOfReaders) {
  const PlacedMember reader{.readers = {kNestItself}, .may_inline = true};
  const PlacedMember read{.readers = {0}};
  EXPECT_EQ(placements_of({reader, read}, 2), (All{{kInlined, kAtRoot},
                                                   {kInlined, 0},
                                                   {kInlined, 1},
                                                   {kAtRoot, kAtRoot},
                                                   {0, kAtRoot},
                                                   {0, 0},
                                                   {1, kAtRoot},
                                                   {1, 0},
                                                   {1, 1}}));
}

TEST(Placements, AreLimited) {
  const std::vector<PlacedMember> members(4, {.readers = {kNestItself}});
  const All some = placements_of(members, 4);  // 5^4 with all loops, 3^4 with two
  EXPECT_EQ(some.size(), 81U);
  for (const std::vector<int>& placement : some) {
    for (const int place : placement) EXPECT_TRUE(place == kAtRoot || place == 0 || place == 3);
  }
}

}  // namespace
}  // namespace tilewright::space
