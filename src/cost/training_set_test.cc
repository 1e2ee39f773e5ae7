#include "cost/training_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cost/synthetic_testing.h"

namespace tilewright::cost {
namespace {

// The given number of samples with weight 1, then borrowed ones.
Samples samples_with(size_t own, size_t others) {
  Samples samples = synthetic_samples({.programs = own + others});
  samples.weight.assign(own, 1.0F);
  samples.weight.resize(own + others, 0.3F);
  return samples;
}

TrainingSet set_of(const Samples& samples) { return *make_training_set(samples, 1); }

TEST(TrainingSet, HoldsOutAFifth) {
  const TrainingSet set = set_of(synthetic_samples({.programs = 500}));
  EXPECT_EQ(set.everyone.size(), 500U);
  EXPECT_EQ(set.training.size() + set.held_out.size(), 500U);
  EXPECT_GT(set.held_out.size(), 70U);
  EXPECT_LT(set.held_out.size(), 130U);
}

TEST(TrainingSet, HoldsOutSamplesOfTheTaskIfSufficient) {
  const TrainingSet set = set_of(samples_with(100, 400));
  EXPECT_GE(set.held_out.size(), 8U);
  EXPECT_LT(*std::ranges::max_element(set.held_out), 100U);
  EXPECT_EQ(set.training.size() + set.held_out.size(), 500U);
}

TEST(TrainingSet, HoldsOutBorrowedSamples) {
  const TrainingSet set = set_of(samples_with(10, 400));
  EXPECT_GE(*std::ranges::max_element(set.held_out), 10U);
}

}  // namespace
}  // namespace tilewright::cost
