#include "te/flop.h"

#include <gtest/gtest.h>

#include "te/dag_builder.h"
#include "te/ops/elementwise.h"
#include "te/ops/matmul.h"
#include "te/ops/softmax.h"
#include "te/ops/table.h"

namespace tilewright::te {
namespace {

TEST(Flop, FollowsTheDefinition) {
  struct Case {
    const char* text;
    double flop;
  };
  const Case cases[] = {
      {"matmul:m=4,n=5,k=6", 2 * 4 * 5 * 6},
      {"matmul:m=4,n=5,k=6,dtype=f16", 2 * 4 * 5 * 6},  // casts are free
      {"matmul:m=4,n=5,k=6,dtype=i8", 2 * 4 * 5 * 6},
      {"batch_matmul:b=3,m=4,n=5,k=6", 2 * 3 * 4 * 5 * 6},
      {"conv2d:h=6,w=6,ci=4,co=8,kernel=3,pad=1", 2 * 36 * 8 * 9 * 4},  // the border is free
      {"conv2d:h=6,w=6,ci=4,co=8,kernel=3,pad=1,dtype=i8", 2 * 36 * 8 * 9 * 4},
      {"conv2d:h=6,w=6,ci=4,co=8,kernel=1,groups=2", 2 * 36 * 8 * 2},
      {"softmax:m=4,n=8", 5 * 4 * 8},
      {"elementwise:shape=10,chain=relu+scale+add+exp", 4 * 10},
  };
  for (const Case& c : cases) {
    const auto instance = parse_operator(c.text);
    ASSERT_TRUE(instance.has_value()) << instance.error().message;
    EXPECT_EQ(instance->dag->flop(), c.flop) << c.text;
  }
}

TEST(Flop, SelectCountsConditionAndCostlierArmUnlessHinted) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {8}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 8);
  const ir::Expr v = builder.read(x, {i.var});
  const TensorId y = builder.compute("Y", {i}, ir::select(v + v < v, v * v * v, v + v));
  const Axis j = builder.axis("j", 8);
  const TensorId z = builder.compute("Z", {j}, builder.read(y, {j.var}));
  builder.set_flop(z, 100);
  const auto dag = std::move(builder).build();
  EXPECT_EQ(dag->flop(1), 8 * (1 + 2));  // the comparison itself is Bool
  EXPECT_EQ(dag->flop(2), 100);
  EXPECT_EQ(dag->flop(), 124);
}

}  // namespace
}  // namespace tilewright::te
