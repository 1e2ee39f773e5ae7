#include "te/ops/concat.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

TEST(Concat, EachElementComesFromItsPart) {
  struct Case {
    const char* text;
    size_t axis;
    std::vector<int64_t> parts;
  };
  const Case cases[] = {{"axis=1,parts=3x1x2", 1, {3, 1, 2}},
                        {"axis=0,parts=2x2", 0, {2, 2}},
                        {"axis=-1,parts=1x1x1x2", 2, {1, 1, 1, 2}},
                        {"axis=2,parts=5", 2, {5}}};
  for (const Case& c : cases) {
    for (const char* dtype : {"f32", "i8", "bf16"}) {
      const Evaluated op(fmt::format("concat:shape=4x6x5,{},dtype={}", c.text, dtype));
      ASSERT_EQ(op.inputs.size(), c.parts.size());
      for_each_index({4, 6, 5}, [&](std::vector<int64_t> indices, size_t offset) {
        size_t part = 0;
        while (indices[c.axis] >= c.parts[part]) indices[c.axis] -= c.parts[part++];
        std::vector<int64_t> extents = {4, 6, 5};
        extents[c.axis] = c.parts[part];
        ASSERT_EQ(op.output[offset],
                  at(op.inputs.at(fmt::format("X{}", part + 1)), extents, indices))
            << c.text;
      });
    }
  }
}

TEST(Concat, Mistakes) {
  std::string many = "1";
  for (int k = 1; k < 1025; ++k) many += "x1";
  const std::string too_many = "concat:shape=65,axis=0,parts=" + many;
  const Mistake mistakes[] = {
      {"concat:shape=4x6,axis=1,parts=3x4", "parts=3x4 do not add up to extent 6 of axis 1"},
      {"concat:shape=4x6,axis=2,parts=6", "there is no axis 2; with 2 dimensions"},
      {"concat:shape=4x6,axis=1", "concat needs parameter parts"},
      {too_many.c_str(), "1025 parts; at most 1024 are supported"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
