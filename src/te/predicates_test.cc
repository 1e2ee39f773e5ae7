#include "te/predicates.h"

#include <gtest/gtest.h>

#include <limits>

#include "te/dag_builder.h"
#include "te/ops/table.h"

namespace tilewright::te {
namespace {

std::shared_ptr<const Dag> dag_of(const char* text) {
  const auto instance = parse_operator(text);
  EXPECT_TRUE(instance.has_value()) << instance.error().message;
  return instance->dag;
}

OpId id_of(const Dag& dag, const char* name) { return dag.find_op(Name(name)).value(); }

TEST(Predicates, ReadPatterns) {
  const auto product = dag_of("matmul:m=4,n=5,k=6");
  EXPECT_FALSE(read_pattern(*product, 2, 0).simple);  // k is not an output axis

  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {4, 4}, ir::Scalar::F32);
  const TensorId z = builder.placeholder("Z", {4}, ir::Scalar::F32);
  const TensorId d = builder.placeholder("D", {4, 4}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 3);
  const Axis j = builder.axis("j", 4);
  builder.compute("Y", {i, j},
                  builder.read(x, {j.var, i.var + 1}) + builder.read(z, {j.var}) +
                      builder.read(d, {i.var, i.var}));
  const auto dag = std::move(builder).build();
  const ReadPattern transposed = read_pattern(*dag, 3, 0);
  EXPECT_TRUE(transposed.simple);
  EXPECT_FALSE(transposed.same_order);
  EXPECT_FALSE(transposed.axis_missing);
  const ReadPattern broadcast = read_pattern(*dag, 3, 1);
  EXPECT_TRUE(broadcast.simple && broadcast.same_order && broadcast.axis_missing);
  const ReadPattern diagonal = read_pattern(*dag, 3, 2);
  EXPECT_TRUE(diagonal.axis_duplicated && diagonal.axis_missing);
}

struct Row {
  const char* text;
  const char* op;
  bool output, inlineable, tiled;
};

TEST(Predicates, BuiltInOperators) {
  const char* conv = "conv2d:h=14,w=14,ci=8,co=8,kernel=3,pad=1";
  const char* cbr = "conv2d_bias_bn_relu:h=14,w=14,ci=8,co=8,kernel=3,pad=1";
  const char* chain = "elementwise:shape=8x16,chain=relu+exp+bias+add";
  const Row rows[] = {
      {"matmul:m=64,n=64,k=64", "A", false, false, false},
      {"matmul:m=64,n=64,k=64", "C", true, false, true},
      {"matmul:m=1,n=1,k=64", "C", true, false, false},  // axes of one reuse nothing
      {"matmul:m=1,n=64,k=64", "C", true, false, true},  // one reused operand and a reduction
      {"batch_matmul:b=4,m=64,n=64,k=64", "C", true, false, true},
      {conv, "P", false, false, false},  // a branch
      {conv, "Y", true, false, true},
      {cbr, "C", false, false, true},
      {cbr, "T1", false, true, false},
      {cbr, "Y", true, true, false},
      {"softmax:m=64,n=64", "M", false, false, false},
      {"softmax:m=64,n=64", "E", false, false, false},  // exp
      {"softmax:m=64,n=64", "S", false, false, false},
      {"softmax:m=64,n=64", "Y", true, true, false},
      {chain, "T1", false, true, false},
      {chain, "T2", false, false, false},
      {chain, "T3", false, true, false},
      {chain, "Y", true, true, false},
  };
  for (const Row& row : rows) {
    const auto dag = dag_of(row.text);
    const OpId op = id_of(*dag, row.op);
    EXPECT_EQ(is_output(*dag, op), row.output) << row.text << ' ' << row.op;
    EXPECT_EQ(is_strictly_inlineable(*dag, op), row.inlineable) << row.text << ' ' << row.op;
    EXPECT_EQ(needs_multi_level_tiling(*dag, op), row.tiled) << row.text << ' ' << row.op;
  }
}

TEST(Predicates, AnOperatorThatReadsNothingIsInlineable) {
  DagBuilder builder;
  const Axis i = builder.axis("i", 8);
  builder.compute("Y", {i}, ir::exp(ir::imm(1, ir::kF32)) + ir::cast(ir::Scalar::F32, i.var));
  EXPECT_TRUE(is_strictly_inlineable(*std::move(builder).build(), 0));
}

TEST(Predicates, TheConstIndexHintForbidsTiling) {
  DagBuilder builder;
  const TensorId a = builder.placeholder("A", {8, 8}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 8, {.simplify_const_index = true});
  const Axis j = builder.axis("j", 8);
  const Axis k = builder.axis("k", 8);
  builder.reduce("C", {i, j}, {k}, ir::BinaryOp::Add, builder.read(a, {i.var, k.var}),
                 ir::Scalar::F32);
  EXPECT_FALSE(needs_multi_level_tiling(*std::move(builder).build(), 1));
}

TEST(Predicates, ElementwiseMatchFollowsChains) {
  const auto chain = dag_of("elementwise:shape=8x16,chain=relu+exp+bias+add");
  const OpId first = id_of(*chain, "T1"), last = id_of(*chain, "Y");
  EXPECT_TRUE(is_elementwise_match(*chain, first, last));
  EXPECT_FALSE(is_elementwise_match(*chain, id_of(*chain, "B3"), last));  // broadcast

  const auto cbr = dag_of("conv2d_bias_bn_relu:h=14,w=14,ci=8,co=8,kernel=3,pad=1");
  EXPECT_TRUE(is_elementwise_match(*cbr, id_of(*cbr, "C"), id_of(*cbr, "Y")));
  EXPECT_FALSE(is_elementwise_match(*cbr, id_of(*cbr, "P"), id_of(*cbr, "C")));

  const auto soft = dag_of("softmax:m=8,n=16");
  EXPECT_FALSE(is_elementwise_match(*soft, id_of(*soft, "E"), id_of(*soft, "S")));  // two consumers
  EXPECT_FALSE(is_elementwise_match(*soft, id_of(*soft, "M"), id_of(*soft, "E")));
}

TEST(Predicates, CommonOuterAxes) {
  const auto soft = dag_of("softmax:m=8,n=16");
  const OpId m = id_of(*soft, "M"), e = id_of(*soft, "E"), s = id_of(*soft, "S");
  const OpId y = id_of(*soft, "Y");
  EXPECT_EQ(common_outer_axes(*soft, m, e), 1);
  EXPECT_EQ(common_outer_axes(*soft, e, y), 1);  // the path through S shares only i
  EXPECT_EQ(common_outer_axes(*soft, s, y), 1);
  EXPECT_EQ(common_outer_axes(*soft, m, y), 1);
  EXPECT_EQ(common_outer_axes(*soft, y, m), 0);  // no path
  const auto conv = dag_of("conv2d:n=2,h=14,w=14,ci=8,co=8,kernel=3,pad=1");
  EXPECT_EQ(common_outer_axes(*conv, id_of(*conv, "P"), id_of(*conv, "Y")), 1);  // n
}

TEST(Predicates, Rfactor) {
  struct Case {
    const char* text;
    const char* op;
    int cores;
    bool needed;
  };
  const Case cases[] = {
      {"matmul:m=512,n=512,k=512", "C", 2, false},  // S > R
      {"matmul:m=4,n=4,k=512", "C", 2, true},       // S = 16 <= 32, R = 512
      {"matmul:m=8,n=8,k=512", "C", 2, false},      // S = 64 > 32
      {"matmul:m=8,n=8,k=512", "C", 4, true},       // S = 64 <= 64
      {"softmax:m=64,n=64", "M", 2, true},          // no tiling: R > cores
      {"softmax:m=64,n=64", "M", 64, false},       {"softmax:m=64,n=64", "Y", 2, false},
      {"softmax:m=64,n=64", "X", 2, false},
  };
  for (const Case& c : cases) {
    const auto dag = dag_of(c.text);
    EXPECT_EQ(needs_rfactor(*dag, id_of(*dag, c.op), c.cores), c.needed) << c.text << c.op;
  }
}

TEST(Predicates, SizesSaturate) {
  DagBuilder builder;
  const Axis i = builder.axis("i", int64_t{1} << 40);
  const Axis j = builder.axis("j", int64_t{1} << 40);
  builder.compute("Y", {i, j}, ir::imm(0, ir::kF32));
  const auto dag = std::move(builder).build();
  EXPECT_EQ(spatial_size(*dag, 0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(reduce_size(*dag, 0), 1);
}

}  // namespace
}  // namespace tilewright::te
