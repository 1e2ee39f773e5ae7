#include "task/similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "task/parse.h"

namespace tilewright {
namespace {

Workload workload(const char* text) { return parse_workload(text).value(); }
WorkloadForm form(const char* text) { return form_of(*workload(text).dag); }

// The texts that the task scheduler groups by.
TEST(Similarity, GroupsAreLoopsAndSizeClass) {
  EXPECT_EQ(form("matmul:m=64,n=48,k=32").group(), "2.1 25");
  EXPECT_EQ(form("matmul:m=64,n=48,k=33").group(), "2.1 25");
  EXPECT_EQ(form("matmul:m=512,n=512,k=512").group(), "2.1 40");
  EXPECT_EQ(form("matmul:m=512,n=500,k=512").group(), "2.1 40");
  EXPECT_NE(form("matmul:m=64,n=512,k=512").group(), "2.1 40");
  EXPECT_NE(form("C2D2").loops, form("matmul:m=512,n=512,k=512").loops);
}

TEST(Similarity, ExtentsAreComparedLogarithmically) {
  const WorkloadForm one = form("matmul:m=64,n=48,k=32");
  EXPECT_EQ(extent_distance(one, one), 0);
  // The axis m is that of A and of C; k is that of A, of B and of the sum.
  EXPECT_DOUBLE_EQ(extent_distance(one, form("matmul:m=128,n=48,k=32")), 2);
  EXPECT_DOUBLE_EQ(extent_distance(one, form("matmul:m=64,n=48,k=8")), 6);
  EXPECT_TRUE(std::isinf(extent_distance(one, form("softmax:m=32,n=64"))));
  EXPECT_TRUE(std::isinf(extent_distance(one, form("matmul:m=64,n=48,k=32,dtype=f64"))));
}

TEST(Similarity, DistanceGrowsAsSimilarityFalls) {
  const auto far = [](const char* other) {
    return distance(workload("matmul:m=64,n=48,k=32"), workload(other));
  };
  EXPECT_EQ(far("matmul:m=64,n=48,k=32"), std::pair(Likeness::Same, 0.0));
  EXPECT_EQ(far("matmul:m=48,n=64,k=32").first, Likeness::Group);
  EXPECT_EQ(far("matmul:m=512,n=512,k=512").first, Likeness::Loops);
  EXPECT_EQ(far("softmax:m=32,n=64").first, Likeness::Other);
  EXPECT_LT(far("matmul:m=64,n=48,k=32"), far("matmul:m=64,n=48,k=33"));
  EXPECT_LT(far("matmul:m=64,n=48,k=33"), far("matmul:m=256,n=256,k=256"));
  EXPECT_LT(far("matmul:m=256,n=256,k=256"), far("matmul:m=512,n=512,k=512"));
  EXPECT_LT(far("matmul:m=512,n=512,k=512"), far("softmax:m=64,n=64"));
}

}  // namespace
}  // namespace tilewright
