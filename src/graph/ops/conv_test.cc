#include "graph/ops/testing.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

// Lists of the two spatial dimensions, in the order in which a case is written.
struct Case {
  int64_t ci = 1, co = 1, groups = 1;
  Shape input = {5, 5}, kernel = {3, 3};
  Shape stride = {1, 1}, dilation = {1, 1}, begin = {0, 0}, end = {0, 0}, more = {0, 0};

  Attributes attributes(bool channels_last) const {
    return {{"stride", stride},
            {"dilation", dilation},
            {"pad_begin", begin},
            {"pad_end", end},
            {"groups", groups},
            {"output_padding", more},
            {"channels_last", int64_t{channels_last}}};
  }
  Constant x() const { return random_numbers({2, ci, input[0], input[1]}, 1); }
};

double element(const Constant& of, const Shape& at) {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < 0 || at[d] >= of.type().shape[d]) return 0;
    offset = offset * of.type().shape[d] + at[d];
  }
  return of.number(offset);
}

// Plain loops over the elements that each output reads.
Numbers naive_conv(const Case& c, const Constant& x, const Constant& w, const Shape& out) {
  Numbers all;
  const int64_t each = c.ci / c.groups;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t o = 0; o < out[1]; ++o) {
      for (int64_t y = 0; y < out[2]; ++y) {
        for (int64_t z = 0; z < out[3]; ++z) {
          double sum = 0;
          for (int64_t i = 0; i < each; ++i) {
            for (int64_t r = 0; r < c.kernel[0]; ++r) {
              for (int64_t s = 0; s < c.kernel[1]; ++s) {
                const int64_t channel = o / (c.co / c.groups) * each + i;
                sum += element(x, {n, channel, y * c.stride[0] + r * c.dilation[0] - c.begin[0],
                                   z * c.stride[1] + s * c.dilation[1] - c.begin[1]}) *
                       element(w, {o, i, r, s});
              }
            }
          }
          all.push_back(sum);
        }
      }
    }
  }
  return all;
}

// Each element of x spread over the output.
Numbers naive_transpose(const Case& c, const Constant& x, const Constant& w, const Shape& out) {
  Numbers all(static_cast<size_t>(type_of(out).elements()));
  const int64_t inner = c.ci / c.groups, outer = c.co / c.groups;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t i = 0; i < c.ci; ++i) {
      for (int64_t y = 0; y < c.input[0]; ++y) {
        for (int64_t z = 0; z < c.input[1]; ++z) {
          for (int64_t o = 0; o < outer; ++o) {
            for (int64_t r = 0; r < c.kernel[0]; ++r) {
              for (int64_t s = 0; s < c.kernel[1]; ++s) {
                const int64_t row = y * c.stride[0] + r * c.dilation[0] - c.begin[0];
                const int64_t column = z * c.stride[1] + s * c.dilation[1] - c.begin[1];
                if (row < 0 || row >= out[2] || column < 0 || column >= out[3]) continue;
                const int64_t channel = i / inner * outer + o;
                all[static_cast<size_t>(((n * out[1] + channel) * out[2] + row) * out[3] +
                                        column)] +=
                    element(x, {n, i, y, z}) * element(w, {i, o, r, s});
              }
            }
          }
        }
      }
    }
  }
  return all;
}

Constant turned(const Constant& x, Shape perm) {
  return run("transpose", {{"perm", std::move(perm)}}, {x});
}

TEST(Conv, BothLayoutsEqualTheDefinition) {
  const Case cases[] = {
      {.ci = 3, .co = 4},
      {.ci = 2, .co = 3, .stride = {2, 1}, .begin = {1, 0}, .end = {0, 2}},
      {.ci = 4, .co = 6, .groups = 2, .dilation = {2, 1}, .begin = {1, 1}, .end = {1, 1}},
      {.ci = 4, .co = 4, .groups = 4, .begin = {1, 1}, .end = {1, 1}},
      {.ci = 2, .co = 4, .groups = 2, .kernel = {1, 3}, .stride = {2, 2}},
      {.ci = 1, .co = 1, .kernel = {5, 5}},
  };
  for (const Case& c : cases) {
    const Constant x = c.x(),
                   w = random_numbers({c.co, c.ci / c.groups, c.kernel[0], c.kernel[1]}, 2);
    const Constant y = run("conv", c.attributes(false), {x, w});
    expect_near(numbers(y), naive_conv(c, x, w, y.type().shape), 1e-6);
    const Constant last =
        run("conv", c.attributes(true), {turned(x, {0, 2, 3, 1}), turned(w, {2, 3, 1, 0})});
    expect_near(numbers(turned(last, {0, 3, 1, 2})), numbers(y), 1e-6);
  }
}

TEST(Conv, OneAndThreeDimensions) {
  const Constant line =
      run("conv", {{"pad_begin", Shape{1}}}, {f32({1, 1, 3}, {1, 2, 3}), f32({1, 1, 2}, {10, 1})});
  EXPECT_EQ(numbers(line), (Numbers{1, 12, 23}));
  const Constant cube =
      run("conv", {}, {random_numbers({1, 2, 3, 3, 3}, 1), random_numbers({1, 2, 3, 3, 3}, 2)});
  double sum = 0;
  for (int64_t k = 0; k < 54; ++k) {
    sum += random_numbers({54}, 1).number(k) * random_numbers({54}, 2).number(k);
  }
  EXPECT_NEAR(cube.number(0), sum, 1e-4);
  const Constant depthwise = run("conv", {{"groups", int64_t{2}}, {"channels_last", int64_t{1}}},
                                 {f32({1, 2, 2}, {1, 2, 3, 4}), f32({2, 2}, {1, 10, 100, 1000})});
  EXPECT_EQ(numbers(depthwise), (Numbers{301, 4020}));
}

TEST(Conv, ChannelsLastHasTheKeyOfTheOperator) {
  const auto key_of = [](const Case& c, Shape x, Shape w) {
    const auto dag =
        define("conv", c.attributes(true), {type_of(std::move(x)), type_of(std::move(w))});
    if (!dag) throw std::runtime_error(dag.error().message);
    return make_workload(*dag, {"W"}, "").key();
  };
  const Case plain{.stride = {2, 2}, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(key_of(plain, {1, 14, 14, 16}, {3, 3, 16, 32}),
            parse_workload("conv2d:h=14,w=14,ci=16,co=32,kernel=3,stride=2,pad=1")->key());
  const Case depthwise{.groups = 16, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(key_of(depthwise, {1, 14, 14, 16}, {3, 3, 16}),
            parse_workload("depthwise_conv2d:h=14,w=14,ci=16,kernel=3,pad=1")->key());
  const Case grouped{.groups = 4};
  EXPECT_EQ(key_of(grouped, {1, 14, 14, 16}, {1, 1, 4, 8}),
            parse_workload("conv2d:h=14,w=14,ci=16,co=8,kernel=1,groups=4")->key());
}

TEST(ConvTranspose, BothLayoutsEqualTheDefinition) {
  const Case cases[] = {
      {.ci = 2, .co = 3, .stride = {2, 2}, .begin = {1, 1}, .end = {1, 1}},
      {.ci = 2,
       .co = 3,
       .kernel = {4, 2},
       .stride = {2, 3},
       .begin = {1, 0},
       .end = {0, 1},
       .more = {1, 2}},
      {.ci = 4, .co = 6, .groups = 2, .stride = {2, 1}},
      {.ci = 3,
       .co = 3,
       .groups = 3,
       .stride = {2, 2},
       .begin = {1, 1},
       .end = {1, 1},
       .more = {1, 1}},
      {.ci = 2, .co = 2, .stride = {2, 1}, .dilation = {1, 2}, .begin = {1, 0}, .end = {2, 1}},
      {.ci = 4, .co = 2, .groups = 2, .stride = {3, 3}, .dilation = {2, 2}},
      {.ci = 1, .co = 1, .kernel = {1, 1}, .stride = {3, 3}, .more = {2, 2}},
  };
  for (const Case& c : cases) {
    const Constant x = c.x(),
                   w = random_numbers({c.ci, c.co / c.groups, c.kernel[0], c.kernel[1]}, 2);
    const Constant y = run("conv_transpose", c.attributes(false), {x, w});
    for (size_t d = 0; d < 2; ++d) {
      EXPECT_EQ(y.type().shape[d + 2], (c.input[d] - 1) * c.stride[d] - c.begin[d] - c.end[d] +
                                           c.dilation[d] * (c.kernel[d] - 1) + 1 + c.more[d]);
    }
    expect_near(numbers(y), naive_transpose(c, x, w, y.type().shape), 1e-6);
    const Constant last = run("conv_transpose", c.attributes(true),
                              {turned(x, {0, 2, 3, 1}), turned(w, {2, 3, 0, 1})});
    expect_near(numbers(turned(last, {0, 3, 1, 2})), numbers(y), 1e-6);
  }
}

TEST(ConvTranspose, OneDimensionAndTheKeyOfTheOperator) {
  EXPECT_EQ(numbers(run("conv_transpose", {{"stride", Shape{2}}},
                        {f32({1, 1, 2}, {1, 2}), f32({1, 1, 3}, {1, 10, 100})})),
            (Numbers{1, 10, 102, 20, 200}));
  const Case c{.stride = {2, 2}, .begin = {1, 1}, .end = {1, 1}};
  const auto dag =
      define("conv_transpose", c.attributes(true), {type_of({1, 4, 4, 8}), type_of({4, 4, 8, 16})});
  ASSERT_TRUE(dag);
  EXPECT_EQ(make_workload(*dag, {"W"}, "").key(),
            parse_workload("conv2d_transpose:h=4,w=4,ci=8,co=16,kernel=4,stride=2,pad=1")->key());
}

TEST(Conv, NarrowIntegers) {
  const Constant y = run(
      "conv", {},
      {constant(Scalar::U8, {1, 1, 2}, {200, 100}), constant(Scalar::I8, {1, 1, 2}, {100, -100})});
  EXPECT_EQ(y.type().element, Scalar::I32);
  EXPECT_EQ(numbers(y), (Numbers{10000}));
}

TEST(Conv, Mistakes) {
  const TensorType x = type_of({1, 4, 5, 5}), w = type_of({8, 4, 3, 3});
  EXPECT_EQ(error_of("conv", {}, {x, type_of({8, 3, 3, 3})}),
            "conv: x of f32[1,4,5,5] and w of f32[8,3,3,3] do not fit together with groups=1");
  EXPECT_NE(error_of("conv", {{"groups", int64_t{3}}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"groups", int64_t{0}}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"stride", Shape{0, 1}}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"stride", Shape{1}}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"pad_begin", Shape{-1, 0}}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {}, {x, type_of({8, 4, 7, 3})}), "");  // does not fit
  EXPECT_NE(error_of("conv", {}, {x, type_of({8, 4, 3})}), "");
  EXPECT_NE(error_of("conv", {}, {type_of({1, 4}), w}), "");
  EXPECT_NE(error_of("conv", {}, {x, type_of({8, 4, 3, 3}, Scalar::I32)}), "");
  EXPECT_NE(error_of("conv", {},
                     {type_of({1, 4, 5, 5}, Scalar::Bool), type_of({8, 4, 3, 3}, Scalar::Bool)}),
            "");
  const Shape huge = {2147483647, 2147483647};
  EXPECT_NE(error_of("conv", {{"dilation", huge}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"pad_begin", huge}, {"pad_end", huge}}, {x, w}), "");
  EXPECT_NE(error_of("conv", {{"dilation", huge}}, {x, type_of({1, 1, int64_t{1} << 36, 1})}), "");
  const TensorType t = type_of({4, 8, 3, 3});
  EXPECT_NE(error_of("conv_transpose", {{"pad_begin", Shape{9, 9}}}, {x, t}), "");  // nothing left
  EXPECT_NE(error_of("conv_transpose", {{"stride", huge}}, {x, t}), "");
  EXPECT_NE(error_of("conv_transpose", {{"groups", int64_t{3}}}, {x, t}), "");
  EXPECT_NE(error_of("conv_transpose", {}, {x, w}), "");
}

}  // namespace
}  // namespace tilewright::graph
