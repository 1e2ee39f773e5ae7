#include "runtime/host/peak.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "target/host_features.h"

namespace tilewright::runtime {
namespace {

TEST(Peak, UsesTheWidestInstructionsThereAre) {
  const FeatureSet features = host_features();
  if (features.has(Feature::Avx512f)) {
    EXPECT_EQ(fma_instructions(), "avx512f");
  } else if (features.has(Feature::Avx2) && features.has(Feature::Fma)) {
    EXPECT_EQ(fma_instructions(), "avx2+fma");
  } else {
    EXPECT_EQ(fma_instructions(), "sse2");
  }
}

TEST(Peak, IsPositive) {
  fma_loop(0);  // returns
  fma_loop(-1);
  EXPECT_GT(measure_fma_seconds(1, 1000), 0.0);
  EXPECT_GT(measure_fma_seconds(3, 1000), 0.0);
  EXPECT_GT(measure_fma_peak(1, 0.0).gflops, 0.0);
}

TEST(Peak, MeasuresCopies) {
  const CopyBandwidth bandwidth = measure_copy_bandwidth(2, 1 << 20, 0.0);
  EXPECT_GT(bandwidth.memcpy_gb_per_s, 0.0);
  EXPECT_GT(bandwidth.vector_gb_per_s, 0.0);
  EXPECT_GE(bandwidth.best(), bandwidth.vector_gb_per_s);
}

// Of parts that are smaller than what a run passes over, and of larger ones.
TEST(Peak, MeasuresReads) {
  EXPECT_GT(measure_read_bandwidth(2, 1 << 10, 0.0), 0.0);
  EXPECT_GT(measure_read_bandwidth(1, 1 << 24, 0.0), 0.0);
  EXPECT_GT(measure_read_bandwidth(3, 0, 0.0), 0.0);
}

TEST(Peak, CopiesExactlyAllElements) {
  for (const int64_t count : {0, 1, 15, 16, 63, 64, 65, 127, 128, 1000}) {
    std::vector<float> from(static_cast<size_t>(count) + 2);
    std::iota(from.begin(), from.end(), 1.0f);
    std::vector<float> to(from.size(), -1.0f);
    copy_with_vectors(to.data() + 1, from.data() + 1, count);
    for (size_t k = 1; k + 1 < to.size(); ++k) ASSERT_EQ(to[k], from[k]) << count << " at " << k;
    EXPECT_EQ(to.front(), -1.0f) << count;
    EXPECT_EQ(to.back(), -1.0f) << count;
  }
}

TEST(Peak, SumsExactlyAllElements) {
  for (const int64_t count : {0, 1, 15, 16, 31, 64, 127, 128, 129, 256, 1000}) {
    std::vector<float> from(static_cast<size_t>(count) + 2);
    std::iota(from.begin(), from.end(), 1.0f);  // sums below 2^24 are exact in any order
    const float wanted = std::accumulate(from.begin() + 1, from.end() - 1, 0.0f);
    EXPECT_EQ(sum_with_vectors(from.data() + 1, count), wanted) << count;
  }
}

}  // namespace
}  // namespace tilewright::runtime
