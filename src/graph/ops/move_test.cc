#include "graph/ops/testing.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

const Constant kMatrix = f32({2, 3}, {1, 2, 3, 4, 5, 6});

Attributes shape(Shape extents) { return {{"shape", std::move(extents)}}; }

TEST(MoveOps, Reshape) {
  const Constant y = run("reshape", shape({3, 1, 2}), {kMatrix});
  EXPECT_EQ(y.type().shape, (Shape{3, 1, 2}));
  EXPECT_EQ(numbers(y), numbers(kMatrix));
  EXPECT_EQ(run("reshape", shape({}), {f32({1, 1}, {7})}).type().shape, Shape{});
  EXPECT_EQ(numbers(run("reshape", shape({1, 1}), {f32({}, {7})})), (Numbers{7}));
}

TEST(MoveOps, TransposeAndBroadcast) {
  EXPECT_EQ(numbers(run("transpose", {{"perm", Shape{1, 0}}}, {kMatrix})),
            (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(numbers(run("transpose", {{"perm", Shape{}}}, {f32({}, {3})})), (Numbers{3}));
  EXPECT_EQ(numbers(run("broadcast", shape({2, 2}), {f32({2, 1}, {1, 2})})), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(numbers(run("broadcast", shape({2, 2}), {f32({}, {3})})), (Numbers{3, 3, 3, 3}));
  EXPECT_EQ(numbers(run("broadcast", shape({}), {f32({}, {3})})), (Numbers{3}));
}

TEST(MoveOps, SliceWithSteps) {
  const Attributes back = {{"begin", Shape{1, 2}}, {"size", Shape{2, 2}}, {"step", Shape{-1, -2}}};
  EXPECT_EQ(numbers(run("slice", back, {kMatrix})), (Numbers{6, 4, 3, 1}));
  const Attributes part = {{"begin", Shape{0, 1}}, {"size", Shape{2, 2}}};
  EXPECT_EQ(numbers(run("slice", part, {kMatrix})), (Numbers{2, 3, 5, 6}));
}

TEST(MoveOps, Concat) {
  const Constant column = f32({2, 1}, {7, 8});
  EXPECT_EQ(numbers(run("concat", {{"axis", int64_t{1}}}, {kMatrix, column, kMatrix})),
            (Numbers{1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 4, 5, 6}));
  EXPECT_EQ(numbers(run("concat", {{"axis", int64_t{-2}}}, {kMatrix, f32({1, 3}, {7, 8, 9})})),
            (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(numbers(run("concat", {{"axis", int64_t{0}}}, {kMatrix})), numbers(kMatrix));
  const std::vector<Constant> many(200, i64({1}, {5}));
  EXPECT_EQ(run("concat", {{"axis", int64_t{0}}}, many).type().shape, (Shape{200}));
}

TEST(MoveOps, Pad) {
  const Constant x = f32({1, 2, 3});
  const auto pads = [](int64_t before, int64_t after, const std::string& mode) {
    return Attributes{{"before", Shape{before}}, {"after", Shape{after}}, {"mode", mode}};
  };
  EXPECT_EQ(numbers(run("pad", pads(2, 1, "constant"), {x})), (Numbers{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(numbers(run("pad", pads(2, 1, "constant"), {x, f32({}, {9})})),
            (Numbers{9, 9, 1, 2, 3, 9}));
  EXPECT_EQ(numbers(run("pad", pads(2, 3, "edge"), {x})), (Numbers{1, 1, 1, 2, 3, 3, 3, 3}));
  EXPECT_EQ(numbers(run("pad", pads(2, 1, "reflect"), {x})), (Numbers{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(numbers(run("pad", pads(2, 1, "wrap"), {x})), (Numbers{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(numbers(run("pad", pads(-1, 1, "constant"), {x})), (Numbers{2, 3, 0}));
  EXPECT_EQ(numbers(run("pad", pads(1, -2, "constant"), {x, f32({1}, {9})})), (Numbers{9, 1}));
  EXPECT_EQ(numbers(run("pad", pads(-1, 1, "edge"), {x})), (Numbers{2, 3, 3}));
  EXPECT_EQ(numbers(run("pad", pads(0, 0, "constant"), {x, f32({}, {9})})), numbers(x));
  EXPECT_EQ(numbers(run("pad", pads(1, 0, "constant"), {boolean({1}, {1})})), (Numbers{0, 1}));
}

TEST(MoveOps, TileAndTrilu) {
  EXPECT_EQ(numbers(run("tile", {{"repeats", Shape{2, 2}}}, {f32({1, 2}, {1, 2})})),
            (Numbers{1, 2, 1, 2, 1, 2, 1, 2}));
  const Constant square = f32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(numbers(run("trilu", {}, {square})), (Numbers{1, 2, 3, 0, 5, 6, 0, 0, 9}));
  EXPECT_EQ(numbers(run("trilu", {{"upper", int64_t{0}}, {"k", int64_t{-1}}}, {square})),
            (Numbers{0, 0, 0, 4, 0, 0, 7, 8, 0}));
  EXPECT_EQ(numbers(run("trilu", {{"k", int64_t{1}}}, {square})),
            (Numbers{0, 2, 3, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(numbers(run("trilu", {{"k", std::numeric_limits<int64_t>::min()}}, {square})),
            numbers(square));
}

TEST(MoveOps, MovesLargeIntegersExactly) {
  const int64_t large[] = {std::numeric_limits<int64_t>::min() + 1, (int64_t{1} << 60) + 1};
  const Constant x = Constant::of_integers({2}, large);
  EXPECT_EQ(
      run("slice", {{"begin", Shape{1}}, {"size", Shape{2}}, {"step", Shape{-1}}}, {x}).integers(),
      (std::vector<int64_t>{large[1], large[0]}));
  EXPECT_EQ(run("concat", {{"axis", int64_t{0}}}, {x, x}).integer(3), large[1]);
  EXPECT_EQ(run("where", {}, {boolean({}, {0}), i64({}, {1}), x}).integer(0), large[0]);
}

TEST(MoveOps, Mistakes) {
  const TensorType x = type_of({2, 3});
  const int64_t max_extent = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(error_of("reshape", shape({7}), {x}), "reshape: 2x3 has 6 elements and 7 has 7");
  EXPECT_EQ(error_of("reshape", shape({-1}), {x}), "reshape: the result would be [-1]");
  EXPECT_EQ(error_of("reshape", shape({6, 0}), {x}),
            "reshape: not supported: empty tensor (the result is [6,0])");
  EXPECT_NE(error_of("broadcast", shape({max_extent, max_extent}), {x}), "");
  EXPECT_EQ(error_of("broadcast", shape({3, 3}), {x}), "broadcast: [2,3] cannot become [3,3]");
  EXPECT_EQ(error_of("transpose", {{"perm", Shape{0}}}, {x}),
            "transpose: perm=[0] should have 2 numbers");
  EXPECT_NE(error_of("transpose", {{"perm", Shape{0, 0}}}, {x}), "");
  EXPECT_EQ(error_of("transpose", {{"perm", Shape{0, 2}}}, {x}),
            "transpose: perm=[0,2] has 2; legal are 0 to 1");
  EXPECT_EQ(error_of("slice", {{"begin", Shape{0, 1}}, {"size", Shape{2, 3}}}, {x}),
            "slice: dimension 1 reads elements 1 to 3; there are 0 to 2");
  EXPECT_NE(error_of("slice", {{"begin", Shape{0, 0}}, {"size", Shape{0, 3}}}, {x}), "");
  EXPECT_NE(error_of("slice", {{"begin", Shape{max_extent, 0}}, {"size", Shape{1, 3}}}, {x}), "");
  EXPECT_NE(error_of("slice",
                     {{"begin", Shape{0, 0}}, {"size", Shape{1, 1}}, {"step", Shape{0, 0}}}, {x}),
            "");
  EXPECT_EQ(error_of("concat", {{"axis", int64_t{1}}}, {x, type_of({3, 3})}),
            "concat: f32[2,3] and f32[3,3] cannot be joined along dimension 1");
  EXPECT_EQ(error_of("concat", {{"axis", int64_t{2}}}, {x, x}),
            "concat: there is no axis 2 among 2 dimensions");
  EXPECT_NE(error_of("concat", {{"axis", int64_t{0}}}, {type_of({}), type_of({})}), "");
  EXPECT_NE(error_of("pad", {{"before", Shape{max_extent, 0}}}, {x}), "");
  EXPECT_NE(error_of("pad", {{"before", Shape{-2, 0}}}, {x}), "");  // nothing left
  EXPECT_NE(
      error_of("pad",
               {{"before", Shape{-2, 0}}, {"after", Shape{3, 0}}, {"mode", std::string("edge")}},
               {x}),
      "");
  EXPECT_EQ(error_of("pad", {}, {x, x}), "pad: a value of f32[2,3] for f32[2,3]");
  EXPECT_NE(error_of("tile", {{"repeats", Shape{2000000000, 2000000000}}}, {x}), "");
  EXPECT_NE(error_of("tile", {{"repeats", Shape{0, 1}}}, {x}), "");
  EXPECT_EQ(error_of("trilu", {}, {type_of({3})}), "trilu: f32[3] has no matrices");
}

}  // namespace
}  // namespace tilewright::graph
