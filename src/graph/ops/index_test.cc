#include "graph/ops/testing.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

const Constant kMatrix = f32({3, 2}, {1, 2, 3, 4, 5, 6});

Attributes axis(int64_t number) { return {{"axis", number}}; }

TEST(Gather, AlongAnAxis) {
  EXPECT_EQ(numbers(run("gather", axis(0), {kMatrix, i64({2}, {2, -3})})), (Numbers{5, 6, 1, 2}));
  EXPECT_EQ(numbers(run("gather", axis(1), {kMatrix, i64({1, 2}, {1, 0})})),
            (Numbers{2, 1, 4, 3, 6, 5}));
  const Constant one = run("gather", axis(0), {f32({7, 8, 9}), i64({}, {1})});
  EXPECT_EQ(one.type().shape, Shape{});
  EXPECT_EQ(numbers(one), (Numbers{8}));
  EXPECT_EQ(numbers(run("gather", axis(0), {kMatrix, constant(Scalar::I32, {}, {1})})),
            (Numbers{3, 4}));
  // An index beyond the end reads the last element, not memory out of bounds.
  EXPECT_EQ(numbers(run("gather", axis(0), {f32({7, 8, 9}), i64({2}, {99, -99})})),
            (Numbers{9, 7}));
}

TEST(Gather, Elements) {
  EXPECT_EQ(numbers(run("gather_elements", axis(0), {kMatrix, i64({2, 2}, {2, 0, 1, -1})})),
            (Numbers{5, 2, 3, 6}));
  EXPECT_EQ(numbers(run("gather_elements", axis(1), {kMatrix, i64({1, 3}, {1, 0, 1})})),
            (Numbers{2, 1, 2}));
}

TEST(Gather, GatherNd) {
  const Constant x = f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(numbers(run("gather_nd", {}, {x, i64({2, 2}, {0, 1, 1, 0})})), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(numbers(run("gather_nd", {}, {x, i64({1, 3}, {1, -1, 0})})), (Numbers{6}));
  EXPECT_EQ(numbers(run("gather_nd", {{"batch_dims", int64_t{1}}}, {x, i64({2, 1}, {1, 0})})),
            (Numbers{2, 3, 4, 5}));
}

TEST(Scatter, Elements) {
  const Constant x = f32({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Constant indices = i64({2, 3}, {1, 0, 2, 0, 2, 1});
  const Constant updates = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(numbers(run("scatter_elements", axis(0), {x, indices, updates})),
            (Numbers{4, 2, 0, 1, 0, 6, 0, 5, 3}));
  const Constant row = f32({1, 5}, {1, 2, 3, 4, 5}), twice = i64({1, 2}, {1, 1});
  const Constant pair = f32({1, 2}, {10, 20});
  const auto reduced = [&](const std::string& reduction) {
    return numbers(run("scatter_elements", {{"axis", int64_t{1}}, {"reduction", reduction}},
                       {row, twice, pair}));
  };
  EXPECT_EQ(reduced("none"), (Numbers{1, 20, 3, 4, 5}));  // the last one counts
  EXPECT_EQ(reduced("add"), (Numbers{1, 32, 3, 4, 5}));
  EXPECT_EQ(reduced("mul"), (Numbers{1, 400, 3, 4, 5}));
  EXPECT_EQ(reduced("max"), (Numbers{1, 20, 3, 4, 5}));
  EXPECT_EQ(reduced("min"), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(run("scatter_elements", axis(-1), {row, i64({1, 1}, {-1}), f32({1, 1}, {9})})),
            (Numbers{1, 2, 3, 4, 9}));
}

TEST(Scatter, Nd) {
  const Constant x = f32({1, 2, 3, 4, 5, 6, 7, 8});
  const Constant indices = i64({4, 1}, {4, 3, 1, 7}), updates = f32({9, 10, 11, 12});
  EXPECT_EQ(numbers(run("scatter_nd", {}, {x, indices, updates})),
            (Numbers{1, 11, 3, 10, 9, 6, 7, 12}));
  const Constant rows = run("scatter_nd", {{"reduction", std::string("add")}},
                            {kMatrix, i64({2, 1}, {0, 0}), f32({2, 2}, {10, 20, 100, 200})});
  EXPECT_EQ(numbers(rows), (Numbers{111, 222, 3, 4, 5, 6}));
  const Constant place = run("scatter_nd", {}, {kMatrix, i64({2}, {2, -1}), f32({}, {0})});
  EXPECT_EQ(numbers(place), (Numbers{1, 2, 3, 4, 5, 0}));
}

TEST(OneHot, AnyIndexType) {
  const Attributes three = {{"depth", int64_t{3}}, {"to", std::string("i32")}};
  EXPECT_EQ(numbers(run("one_hot", three, {i64({3}, {0, -1, 7})})),
            (Numbers{1, 0, 0, 0, 0, 1, 0, 0, 0}));
  const Attributes first = {{"depth", int64_t{2}},
                            {"axis", int64_t{0}},
                            {"on", 5.0},
                            {"off", 2.0},
                            {"to", std::string("f32")}};
  EXPECT_EQ(numbers(run("one_hot", first, {f32({1, 0})})), (Numbers{2, 5, 5, 2}));
}

TEST(IndexOps, Mistakes) {
  const TensorType x = type_of({3, 2}), i = type_of({2}, Scalar::I64);
  EXPECT_EQ(error_of("gather", axis(0), {x, x}), "gather: indices of f32; types are i64, i32");
  EXPECT_EQ(error_of("gather", axis(2), {x, i}), "gather: there is no axis 2 among 2 dimensions");
  EXPECT_NE(error_of("gather", axis(0), {type_of({}), i}), "");
  EXPECT_NE(error_of("gather", axis(0),
                     {type_of({2, 2, 2, 2, 2, 2}), type_of({2, 2, 2, 2, 2, 2}, Scalar::I64)}),
            "");
  EXPECT_EQ(error_of("gather_elements", axis(0), {x, type_of({2, 3}, Scalar::I64)}),
            "gather_elements: indices [2,3] do not fit [3,2] along dimension 0");
  EXPECT_NE(error_of("gather_nd", {}, {x, type_of({2, 3}, Scalar::I64)}), "");
  EXPECT_NE(error_of("gather_nd", {{"batch_dims", int64_t{2}}}, {x, i}), "");
  EXPECT_NE(error_of("gather_nd", {{"batch_dims", int64_t{-1}}}, {x, i}), "");
  EXPECT_NE(
      error_of("scatter_elements", axis(0), {x, type_of({2, 2}, Scalar::I64), type_of({1, 2})}),
      "");
  EXPECT_NE(error_of("scatter_nd", {}, {x, type_of({2, 1}, Scalar::I64), type_of({2, 3})}), "");
  EXPECT_NE(error_of("scatter_nd", {{"reduction", std::string("xor")}},
                     {x, type_of({2, 1}, Scalar::I64), type_of({2, 2})}),
            "");
  EXPECT_NE(error_of("one_hot", {{"depth", int64_t{0}}, {"to", std::string("f32")}}, {i}), "");
  EXPECT_NE(
      error_of("one_hot",
               {{"depth", std::numeric_limits<int64_t>::max()}, {"to", std::string("f32")}}, {i}),
      "");
}

}  // namespace
}  // namespace tilewright::graph
