#include "te/ops/gather.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

// -1 is the last of `extent`; indices out of bounds are clamped.
int64_t resolved(double index, int64_t extent) {
  const auto whole = static_cast<int64_t>(index);
  return std::clamp<int64_t>(whole < 0 ? whole + extent : whole, 0, extent - 1);
}

TEST(Gather, EqualsItsDefinition) {
  struct Case {
    const char* text;
    size_t axis;
    std::vector<int64_t> indices, shape;
  };
  const Case cases[] = {{"axis=0,indices=3x2", 0, {3, 2}, {3, 2, 4, 3}},
                        {"axis=1,indices=6", 1, {6}, {5, 6, 3}},
                        {"axis=-1,indices=2x1x2", 2, {2, 1, 2}, {5, 4, 2, 1, 2}}};
  const std::vector<int64_t> extents = {5, 4, 3};
  for (const Case& c : cases) {
    for (const char* types : {"dtype=f32,index=i64", "dtype=i8,index=i32", "dtype=bf16"}) {
      const Evaluated op(fmt::format("gather:shape=5x4x3,{},{}", c.text, types), -9, 9);
      ASSERT_EQ(op.shape, c.shape);
      for_each_index(c.shape, [&](const std::vector<int64_t>& y, size_t offset) {
        const auto first = y.begin() + static_cast<int64_t>(c.axis);
        const auto last = first + static_cast<int64_t>(c.indices.size());
        const double index = at(op.inputs.at("I"), c.indices, std::vector(first, last));
        std::vector<int64_t> x(y.begin(), first);
        x.push_back(resolved(index, extents[c.axis]));
        x.insert(x.end(), last, y.end());
        ASSERT_EQ(op.output[offset], at(op.inputs.at("X"), extents, x)) << c.text;
      });
    }
  }
}

TEST(OneHot, EqualsItsDefinition) {
  for (const int64_t axis : {-1, 0, 1}) {
    const Evaluated op(
        fmt::format("one_hot:shape=4x6,depth=5,axis={},on=3,off=-2,dtype=i8,index=i32", axis), -7,
        7);
    const size_t along = axis < 0 ? 2 : static_cast<size_t>(axis);
    std::vector<int64_t> shape = {4, 6};
    shape.insert(shape.begin() + static_cast<int64_t>(along), 5);
    ASSERT_EQ(op.shape, shape);
    for_each_index(shape, [&](std::vector<int64_t> y, size_t offset) {
      const int64_t position = y[along];
      y.erase(y.begin() + static_cast<int64_t>(along));
      const auto index = static_cast<int64_t>(at(op.inputs.at("I"), {4, 6}, y));
      ASSERT_EQ(op.output[offset], index == position || index + 5 == position ? 3 : -2);
    });
  }
}

TEST(Gather, Mistakes) {
  const Mistake mistakes[] = {
      {"gather:shape=4x4,axis=2,indices=3", "gather: there is no axis 2"},
      {"gather:shape=4,indices=3,index=i8", "index i8 is not supported; types are i32, i64"},
      {"gather:shape=4x4x4x4x4x4,indices=3x3x3x3x3x3", "a shape of 11 dimensions"},
      {"gather:shape=4", "gather needs parameter indices"},
      {"one_hot:shape=4,depth=3,axis=2", "one_hot: there is no axis 2; with 2 dimensions"},
      {"one_hot:shape=4,depth=3,on=0.5,dtype=i8", "0.5 is not a value of i8"},
      {"one_hot:shape=4,depth=3,index=f32", "index f32 is not supported"},
      {"one_hot:shape=4", "one_hot needs parameter depth"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
