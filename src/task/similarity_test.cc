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

// Of operators that reduce alone. An elementwise operator has none.
TEST(Similarity, CoresAreComparedWithoutTheirSurroundings) {
  const WorkloadForm conv = form("conv2d:ci=64,co=64,h=56,w=56,kernel=3,pad=1");
  EXPECT_EQ(core_distance(conv, conv), 0);
  EXPECT_EQ(core_distance(conv, form("conv2d:ci=64,co=64,h=58,w=58,kernel=3")), 0);  // no padding
  EXPECT_EQ(core_distance(conv, form("conv2d:ci=64,co=64,h=28,w=28,kernel=3,pad=1")), 2);
  EXPECT_TRUE(std::isinf(core_distance(conv, form("matmul:m=64,n=48,k=32"))));
  const WorkloadForm relu = form("elementwise:shape=37,chain=relu");
  EXPECT_TRUE(std::isinf(core_distance(relu, relu)));
  // The sums of a norm are not the maximum of a softmax.
  EXPECT_TRUE(std::isinf(core_distance(form("reduce:op=max,shape=64x64,axes=1"),
                                       form("reduce:op=sum,shape=64x64,axes=1"))));
}

TEST(Similarity, OperatorsThatMatch) {
  const Workload padded = workload("conv2d:ci=64,co=64,h=56,w=56,kernel=3,pad=1");
  const Workload plain = workload("conv2d:ci=64,co=64,h=58,w=58,kernel=3");
  const auto text = [](const Workload& from, const Workload& to) {
    std::string all;
    for (const auto& [one, other] : matching_ops(*from.dag, *to.dag)) {
      all += std::string(one.text()) + "=" + std::string(other.text()) + " ";
    }
    return all;
  };
  EXPECT_EQ(text(padded, padded), "X=X W=W P=P Y=Y ");
  EXPECT_EQ(text(padded, plain), "Y=Y W=W ");  // P is no input
  EXPECT_EQ(text(workload("matmul:m=64,n=48,k=32"), workload("matmul:m=64,n=48,k=16")),
            "A=A B=B C=C ");
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
