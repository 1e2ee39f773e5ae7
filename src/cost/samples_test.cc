#include "cost/samples.h"

#include <gtest/gtest.h>

#include "cost/synthetic_testing.h"

namespace tilewright::cost {
namespace {

Samples some(size_t programs, uint32_t group, uint64_t seed) {
  Samples samples =
      synthetic_samples({.programs = programs, .rows = 3, .group = group, .seed = seed});
  for (size_t k = 0; k < programs; ++k)
    samples.trace.push_back(std::to_string(seed) + "/" + std::to_string(k));
  return samples;
}

TEST(Samples, AppendKeepsTheNewest) {
  Samples samples = some(5, 0, 1);
  const Samples other = some(7, 2, 3);
  append_samples(other, 4, &samples);
  ASSERT_EQ(samples.size(), 9U);
  EXPECT_EQ(samples.inputs[0].programs(), 9U);
  EXPECT_EQ(samples.inputs[0].rows(), 27U);
  EXPECT_EQ(samples.group[5], 2U);
  EXPECT_EQ(samples.trace[5], "3/0");
  EXPECT_TRUE(samples.weight.empty());
  keep_newest(4, &samples);
  EXPECT_EQ(samples.size(), 4U);
  Samples first_of_other;
  append_samples(other, 4, &first_of_other);
  EXPECT_EQ(samples.inputs, first_of_other.inputs);
  EXPECT_EQ(samples.trace, first_of_other.trace);
  EXPECT_EQ(samples.latency_ns, first_of_other.latency_ns);
}

TEST(Samples, MissingWeightsAreOne) {
  Samples light = some(2, 1, 1);
  light.weight = {0.25F, 0.5F};
  Samples plain = some(1, 0, 2);
  append_samples(light, 2, &plain);
  EXPECT_EQ(plain.weight, (std::vector<float>{1, 0.25F, 0.5F}));
  append_samples(some(1, 0, 3), 1, &light);
  EXPECT_EQ(light.weight, (std::vector<float>{0.25F, 0.5F, 1}));
}

TEST(Samples, OriginsFollowTheirGroups) {
  Samples samples = some(2, 0, 1);
  samples.origins.emplace(0, SampleOrigin{.key = {1, 1}, .task = {}, .machine = {}});
  Samples more = some(5, 3, 2);
  more.origins.emplace(3, SampleOrigin{.key = {2, 2}, .task = {}, .machine = {}});
  append_samples(more, 3, 5, &samples);
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples.trace[2], "2/3");
  EXPECT_EQ(samples.origins.at(0).key, (Hash128{1, 1}));
  EXPECT_EQ(samples.origins.at(3).key, (Hash128{2, 2}));
}

TEST(Samples, TracesExistForAllOrNone) {
  Samples with = some(2, 0, 1);
  Samples without = synthetic_samples({.programs = 3, .rows = 3});
  EXPECT_THROW(append_samples(without, 3, &with), InternalError);
  EXPECT_THROW(append_samples(some(2, 0, 1), 2, &without), InternalError);
  Samples empty;
  append_samples(some(2, 0, 1), 2, &empty);
  EXPECT_EQ(empty.trace.size(), 2U);
  empty = {};
  append_samples(synthetic_samples({.programs = 3, .rows = 3}), 3, &empty);
  EXPECT_TRUE(empty.trace.empty());
}

// Samples without programs may have no encodings at all.
TEST(Samples, AppendingNoneChangesNothing) {
  Samples samples = some(2, 0, 1);
  append_samples(Samples(), 0, &samples);
  append_samples(synthetic_samples({.programs = 3, .rows = 3}), 0, &samples);
  EXPECT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples.inputs[0].programs(), 2U);
  EXPECT_EQ(samples.trace.size(), 2U);
}

}  // namespace
}  // namespace tilewright::cost
