#include "app/operator_space.h"

#include <gtest/gtest.h>

namespace tilewright::app {
namespace {

TEST(OperatorSpace, Choices) {
  schedule::Hole hole;
  hole.domain = schedule::TileDomain{.choices = {{1, 1}, {2, 4}}, .extent = 8};
  EXPECT_EQ(choice_text(hole, 0), "[1, 1]");
  hole.domain = schedule::TailDomain{{schedule::Tail::Peel, schedule::Tail::Mask}, {0}};
  EXPECT_EQ(choice_text(hole, 1), "mask");
  hole.domain = schedule::StepDomain{{std::nullopt}};
  EXPECT_EQ(choice_text(hole, 0), "off");
  hole.domain = schedule::SiteDomain{{0, 1}, {{{}, {}}}};
  EXPECT_EQ(choice_text(hole, 0), "off");
}

TEST(OperatorSpace, PartsCanBeTurnedOff) {
  const TargetChoice choice{.target = "x86-64-v4;threads=2"};
  const SpaceParts parts = space_parts(space_target_of(choice).value());
  ASSERT_FALSE(parts.rules.empty());
  ASSERT_FALSE(parts.extensions.empty());
  for (const SpacePart& part : parts.extensions) {
    const auto space = operator_space("GMM0", choice, {.off = {std::string(part.name)}});
    EXPECT_TRUE(space.has_value()) << part.name;
  }
}

}  // namespace
}  // namespace tilewright::app
