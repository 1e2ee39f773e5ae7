#include "app/operator_space.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(OperatorSpace, SizesAreProductsAndSumsOfChoices) {
  const TargetChoice choice{.target = "x86-64-v4;threads=2"};
  for (const bool all : {false, true}) {
    const OperatorSpace space = operator_space("GMM0", choice, {}, all).value();
    EXPECT_EQ(space.target, print_target(space_target_of(choice).value()));
    double sum = 0;
    size_t max_choices = 0;
    for (const SpaceSketch& sketch : space.sketches) {
      double product = 1;
      for (const SpaceHole& hole : sketch.holes) {
        product *= static_cast<double>(hole.size);
        EXPECT_EQ(hole.choices.front().number, 0U);
        EXPECT_EQ(hole.choices.back().number, hole.size - 1);
        EXPECT_LE(hole.choices.size(), all ? hole.size : 4);
        max_choices = std::max(max_choices, hole.choices.size());
        for (const int16_t step : hole.steps) {
          EXPECT_LT(static_cast<size_t>(step), sketch.steps.size());
        }
      }
      EXPECT_DOUBLE_EQ(sketch.size, product);
      sum += sketch.size;
    }
    EXPECT_DOUBLE_EQ(space.size, sum);
    EXPECT_EQ(max_choices > 4, all);
  }
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
