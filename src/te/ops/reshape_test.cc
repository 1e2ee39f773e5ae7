#include "te/ops/reshape.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

TEST(Transpose, MovesDimensions) {
  const std::vector<int64_t> shape = {2, 3, 4};
  for (const std::vector<int64_t>& perm :
       std::vector<std::vector<int64_t>>{{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {2, 1, 0}}) {
    for (const char* dtype : {"f32", "i8", "bf16"}) {
      const Evaluated op(fmt::format("transpose:shape=2x3x4,perm={}x{}x{},dtype={}", perm[0],
                                     perm[1], perm[2], dtype));
      for_each_index(op.shape, [&](const std::vector<int64_t>& y, size_t offset) {
        std::vector<int64_t> x(3);
        for (size_t d = 0; d < 3; ++d) x[static_cast<size_t>(perm[d])] = y[d];
        ASSERT_EQ(op.output[offset], at(op.inputs.at("X"), shape, x));
      });
    }
  }
}

TEST(Reshape, KeepsTheRowMajorOrder) {
  for (const char* text : {"shape=6x4,to=2x3x2x2", "shape=2x3x4,to=24", "shape=24,to=4x3x2",
                           "shape=4x6,to=3x8", "shape=1x6x1,to=2x1x3", "shape=6x1x1,to=6",
                           "shape=6,to=1x6x1", "shape=1,to=1x1", "shape=2x6x5,to=3x4x5"}) {
    const Evaluated op(std::string("reshape:") + text);
    EXPECT_EQ(op.output, op.inputs.at("X")) << text;
  }
}

TEST(Reshape, DividesOnlyIfNecessary) {
  const auto indices = [](const char* text) {
    const std::string lines = parse_operator(std::string("reshape:") + text)->dag->to_string();
    return lines.substr(lines.find("= X") + 2);
  };
  EXPECT_EQ(indices("shape=6x4,to=2x3x2x2"), "X[i * 3 + j, k * 2 + l]\n");
  EXPECT_EQ(indices("shape=2x3x4,to=6x4"), "X[i / 3, i % 3, j]\n");
  EXPECT_EQ(indices("shape=5x1x4,to=5x4"), "X[i, 0, j]\n");
}

TEST(Reshape, Mistakes) {
  const Mistake mistakes[] = {
      {"reshape:shape=4x6,to=5x5", "reshape: 4x6 has 24 elements and 5x5 has 25"},
      {"reshape:shape=4,to=1x1x1x1x1x1x1x1x1x1x4", "a shape of 11 dimensions"},
      {"reshape:shape=2000000000x2000000000x2000000000,to=4", "is too large; at most"},
      {"transpose:shape=4x6,perm=0x0", "perm=0x0 should have each of the numbers 0 to 1 once"},
      {"transpose:shape=4x6,perm=0", "should have each of the numbers 0 to 1 once"},
      {"transpose:shape=4x6,perm=2x1", "should have each of the numbers 0 to 1 once"},
      {"transpose:shape=4x6,perm=-1x0", "-1 is out of range"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
