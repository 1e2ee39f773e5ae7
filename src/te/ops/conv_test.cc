#include "te/ops/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;

// A convolution in three dimensions; those that an operator lacks have extent 1 and no border.
struct Case {
  const char* text;
  int64_t n, ci, co;
  std::vector<int64_t> input, kernel, output;  // z, y, x
  std::vector<int64_t> pad = {0, 0, 0};
  int64_t stride = 1, dilation = 1, groups = 1;
};

// One element by the definition; `at_output` is n, z, y, x, c.
double naive(const Evaluated& conv, const Case& s, const std::vector<int64_t>& at_output) {
  const int64_t in = s.ci / s.groups, out = s.co / s.groups;
  const int64_t n = at_output[0], c = at_output[4];
  double sum = 0;
  for_each_index(s.kernel, [&](const std::vector<int64_t>& tap, size_t) {
    std::vector<int64_t> position(3);
    for (size_t d = 0; d < 3; ++d) {
      position[d] = at_output[d + 1] * s.stride + tap[d] * s.dilation - s.pad[d];
    }
    for (int64_t rc = 0; rc < in; ++rc) {
      sum += at(conv.inputs.at("X"), {s.n, s.input[0], s.input[1], s.input[2], s.ci},
                {n, position[0], position[1], position[2], c / out * in + rc}) *
             at(conv.inputs.at("W"), {s.kernel[0], s.kernel[1], s.kernel[2], in, s.co},
                {tap[0], tap[1], tap[2], rc, c});
    }
  });
  return sum;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {.text = "conv1d:l=9,ci=3,co=4,kernel=3",
       .n = 1,
       .ci = 3,
       .co = 4,
       .input = {1, 1, 9},
       .kernel = {1, 1, 3},
       .output = {1, 1, 7}},
      {.text = "conv1d:n=2,l=11,ci=4,co=6,kernel=3,stride=2,pad=2,dilation=3,groups=2,dtype=i8",
       .n = 2,
       .ci = 4,
       .co = 6,
       .input = {1, 1, 11},
       .kernel = {1, 1, 3},
       .output = {1, 1, 5},
       .pad = {0, 0, 2},
       .stride = 2,
       .dilation = 3,
       .groups = 2},
      {.text = "conv2d:n=2,h=5,w=6,ci=3,co=4,kernel=3",
       .n = 2,
       .ci = 3,
       .co = 4,
       .input = {1, 5, 6},
       .kernel = {1, 3, 3},
       .output = {1, 3, 4}},
      {.text = "conv2d:h=8,w=7,ci=2,co=3,kernel=3,pad=1,stride=2",
       .n = 1,
       .ci = 2,
       .co = 3,
       .input = {1, 8, 7},
       .kernel = {1, 3, 3},
       .output = {1, 4, 4},
       .pad = {0, 1, 1},
       .stride = 2},
      {.text = "conv2d:h=9,w=9,ci=2,co=3,kernel=3,pad=3,stride=2,dilation=2,dtype=f16",
       .n = 1,
       .ci = 2,
       .co = 3,
       .input = {1, 9, 9},
       .kernel = {1, 3, 3},
       .output = {1, 6, 6},
       .pad = {0, 3, 3},
       .stride = 2,
       .dilation = 2},
      {.text = "conv2d:h=4,w=6,ci=2,co=2,kh=1,kw=4,pad=1",
       .n = 1,
       .ci = 2,
       .co = 2,
       .input = {1, 4, 6},
       .kernel = {1, 1, 4},
       .output = {1, 6, 5},
       .pad = {0, 1, 1}},
      {.text = "conv2d:h=4,w=4,ci=4,co=6,kernel=3,pad=1,groups=2,dtype=u8",
       .n = 1,
       .ci = 4,
       .co = 6,
       .input = {1, 4, 4},
       .kernel = {1, 3, 3},
       .output = {1, 4, 4},
       .pad = {0, 1, 1},
       .groups = 2},
      {.text = "conv2d:h=4,w=4,ci=4,co=4,kernel=2,groups=4,dtype=i32",
       .n = 1,
       .ci = 4,
       .co = 4,
       .input = {1, 4, 4},
       .kernel = {1, 2, 2},
       .output = {1, 3, 3},
       .groups = 4},
      {.text = "conv3d:n=2,d=3,h=4,w=5,ci=2,co=3,kernel=2,dtype=f64",
       .n = 2,
       .ci = 2,
       .co = 3,
       .input = {3, 4, 5},
       .kernel = {2, 2, 2},
       .output = {2, 3, 4}},
      {.text = "conv3d:d=5,h=4,w=6,ci=4,co=2,kd=3,kh=1,kw=2,stride=2,pad=1,dilation=2,groups=2,"
               "dtype=i8",
       .n = 1,
       .ci = 4,
       .co = 2,
       .input = {5, 4, 6},
       .kernel = {3, 1, 2},
       .output = {2, 3, 3},
       .pad = {1, 1, 1},
       .stride = 2,
       .dilation = 2,
       .groups = 2},
  };
  return all;
}

std::vector<int64_t> without_ones_of_missing_ranks(const Case& s) {
  const auto rank = static_cast<size_t>(s.text[4] - '0');  // conv2d
  std::vector<int64_t> shape = {s.n};
  shape.insert(shape.end(), s.output.end() - static_cast<int64_t>(rank), s.output.end());
  shape.push_back(s.co);
  return shape;
}

TEST(Conv, EqualsItsDefinition) {
  for (const Case& s : cases()) {
    const bool is_unsigned = std::string_view(s.text).ends_with("u8");
    const Evaluated conv(s.text, is_unsigned ? 0 : -4, 4);
    ASSERT_EQ(conv.shape, without_ones_of_missing_ranks(s)) << s.text;
    for_each_index({s.n, s.output[0], s.output[1], s.output[2], s.co},
                   [&](const std::vector<int64_t>& indices, size_t offset) {
                     ASSERT_EQ(conv.output[offset], naive(conv, s, indices))
                         << s.text << " at " << offset;
                   });
  }
}

TEST(Conv, AccumulatorAndResultTypes) {
  struct Types {
    const char* dtype;
    ir::Scalar sum, result;
  };
  using enum ir::Scalar;
  for (const Types& types : {Types{"f32", F32, F32}, Types{"f64", F64, F64}, Types{"f16", F32, F16},
                             Types{"bf16", F32, BF16}, Types{"i8", I32, I32}, Types{"u8", I32, I32},
                             Types{"i16", I32, I32}, Types{"i32", I32, I32}, Types{"u16", U32, U32},
                             Types{"u32", U32, U32}}) {
    const auto conv =
        parse_operator(std::string("conv1d:l=5,ci=2,co=2,kernel=3,pad=1,dtype=") + types.dtype);
    ASSERT_TRUE(conv.has_value()) << conv.error().message;
    EXPECT_EQ(conv->dag->op(3).body[0].type().scalar, types.sum) << types.dtype;
    EXPECT_EQ(conv->dag->tensor(3).element, types.result) << types.dtype;
  }
}

TEST(Conv, WeightTypeMayDiffer) {
  const std::string text = "conv2d:n=1,h=4,w=4,ci=4,co=2,kernel=3,stride=1,pad=1,dilation=1,";
  const auto mixed = parse_operator(text + "groups=1,dtype=u8,dtype_w=i8");
  ASSERT_TRUE(mixed.has_value()) << mixed.error().message;
  EXPECT_EQ(mixed->dag->tensor(0).element, ir::Scalar::U8);
  EXPECT_EQ(mixed->dag->tensor(1).element, ir::Scalar::I8);
  EXPECT_EQ(mixed->dag->tensor(mixed->dag->outputs()[0]).element, ir::Scalar::I32);
  EXPECT_TRUE(mixed->text.ends_with("dtype=u8,dtype_w=i8")) << mixed->text;
  const auto clash = parse_operator(text + "dtype=u8,dtype_w=f16");
  ASSERT_FALSE(clash.has_value());
  EXPECT_EQ(clash.error().message,
            "conv2d: sums of products are kept in i32 for u8 and in f32 for f16; take types that "
            "agree");
}

TEST(Conv, TheEpilogueEqualsItsDefinition) {
  const Case s = {.text = "conv2d_bias_bn_relu:h=4,w=4,ci=2,co=3,kernel=3,pad=1",
                  .n = 1,
                  .ci = 2,
                  .co = 3,
                  .input = {1, 4, 4},
                  .kernel = {1, 3, 3},
                  .output = {1, 4, 4},
                  .pad = {0, 1, 1}};
  const Evaluated conv(s.text);
  for_each_index({1, 1, 4, 4, 3}, [&](const std::vector<int64_t>& indices, size_t offset) {
    const int64_t c = indices[4];
    const double normal =
        (naive(conv, s, indices) + conv.in("bias", c)) * conv.in("scale", c) + conv.in("shift", c);
    ASSERT_EQ(conv.output[offset], std::max(normal, 0.0));
  });
}

std::vector<std::string> stages_of(const Dag& dag) {
  std::vector<std::string> names;
  for (const Op& op : dag.ops()) names.push_back(op.name.text());
  return names;
}

std::vector<std::string> axes_of(const Dag& dag, std::string_view stage) {
  const Op& op = dag.op(dag.find_op(Name(stage)).value());
  std::vector<std::string> names;
  names.reserve(op.axes.size() + op.reduce_axes.size());
  for (const Axis& axis : op.axes) names.push_back(axis.name.text());
  for (const Axis& axis : op.reduce_axes) names.push_back(axis.name.text());
  return names;
}

TEST(Conv, StagesAndAxes) {
  const auto line = parse_operator("conv1d:l=5,ci=2,co=3,kernel=3,pad=1")->dag;
  EXPECT_THAT(stages_of(*line), ElementsAre("X", "W", "P", "Y"));
  EXPECT_THAT(axes_of(*line, "P"), ElementsAre("n", "x", "c"));
  EXPECT_THAT(axes_of(*line, "Y"), ElementsAre("n", "x", "c", "rx", "rc"));
  const auto plane = parse_operator("conv2d:h=5,w=5,ci=2,co=3,kernel=3,pad=1")->dag;
  EXPECT_THAT(stages_of(*plane), ElementsAre("X", "W", "P", "Y"));
  EXPECT_THAT(axes_of(*plane, "Y"), ElementsAre("n", "y", "x", "c", "ry", "rx", "rc"));
  const auto space = parse_operator("conv3d:d=5,h=5,w=5,ci=2,co=3,kernel=3,pad=1")->dag;
  EXPECT_THAT(axes_of(*space, "P"), ElementsAre("n", "z", "y", "x", "c"));
  EXPECT_THAT(axes_of(*space, "Y"), ElementsAre("n", "z", "y", "x", "c", "rz", "ry", "rx", "rc"));
  const auto plain = parse_operator("conv2d:h=5,w=5,ci=2,co=3,kernel=1")->dag;
  EXPECT_THAT(stages_of(*plain), ElementsAre("X", "W", "Y"));
  const auto fused = parse_operator("conv2d_bias_bn_relu:h=5,w=5,ci=2,co=3,kernel=3,pad=1")->dag;
  EXPECT_THAT(stages_of(*fused),
              ElementsAre("X", "W", "P", "C", "bias", "scale", "shift", "T1", "T2", "T3", "Y"));
}

TEST(Conv, RejectsInvalidParameters) {
  const Mistake mistakes[] = {
      {"conv2d:h=4,w=4,ci=3,co=4,kernel=3,groups=2", "groups=2 must divide ci=3 and co=4"},
      {"conv3d:d=4,h=4,w=4,ci=4,co=3,kernel=3,groups=2",
       "conv3d: groups=2 must divide ci=4 and co=3"},
      {"conv2d:h=4,w=4,ci=4,co=4,kernel=7", "a 7x7 kernel with dilation=1 does not fit into 4x4"},
      {"conv1d:l=4,ci=4,co=4,kernel=3,dilation=2",
       "conv1d: a 3 kernel with dilation=2 does not fit into 4 with pad=0"},
      {"conv3d:d=1,h=9,w=9,ci=4,co=4,kernel=3",
       "conv3d: a 3x3x3 kernel with dilation=1 does not fit into 1x9x9 with pad=0"},
      {"conv1d:l=4,ci=4,co=4", "conv1d needs parameter kernel"},
      {"conv1d:w=4,ci=4,co=4,kernel=1", "conv1d has no parameter 'w'"},
      {"conv2d:h=4,w=4,ci=4,co=4", "needs parameter kernel, or both kh and kw instead of it"},
      {"conv2d:h=4,w=4,ci=4,co=4,kh=3", "needs parameter kernel, or both kh and kw"},
      {"conv3d:d=4,h=4,w=4,ci=4,co=4,kd=3,kw=3",
       "conv3d needs parameter kernel, or all of kd, kh, kw instead of it"},
      {"conv2d:h=4,w=4,ci=4,co=4,kernel=3,kh=2",
       "kernel and kh, kw exclude each other; kernel=3 is kh=3,kw=3"},
      {"conv2d:h=4,w=4,ci=4,co=4,kernel=1,dtype=bool", "dtype bool is not supported"},
      {"conv2d_bias_bn_relu:h=4,w=4,ci=4,co=4,kernel=1,dtype=i8", "dtype i8 is not supported"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
