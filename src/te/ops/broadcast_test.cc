#include "te/ops/broadcast.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

// The element of a tensor of `extents` that is broadcast to `y` of the result.
double repeated(const Evaluated& op, const char* name, const std::vector<int64_t>& extents,
                const std::vector<int64_t>& y) {
  std::vector<int64_t> indices(y.end() - static_cast<int64_t>(extents.size()), y.end());
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) indices[d] = 0;
  }
  return at(op.inputs.at(name), extents, indices);
}

TEST(Binary, ShapesAreBroadcast) {
  struct Case {
    const char* text;
    std::vector<int64_t> a, b, y;
  };
  const Case cases[] = {{"a=4x1x6,b=5x1", {4, 1, 6}, {5, 1}, {4, 5, 6}},
                        {"a=3,b=2x3", {3}, {2, 3}, {2, 3}},
                        {"a=1,b=1", {1}, {1}, {1}},
                        {"a=2x3x4,b=2x3x4", {2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
                        {"a=2x1,b=1x3", {2, 1}, {1, 3}, {2, 3}}};
  for (const Case& c : cases) {
    const Evaluated op(fmt::format("binary:op=sub,{}", c.text));
    ASSERT_EQ(op.shape, c.y);
    for_each_index(c.y, [&](const std::vector<int64_t>& y, size_t offset) {
      ASSERT_EQ(op.output[offset], repeated(op, "A", c.a, y) - repeated(op, "B", c.b, y));
    });
    const Evaluated wide(fmt::format("broadcast:shape={}x1,to=2x{}x3,dtype=i8", c.a[0], c.a[0]));
    for_each_index({2, c.a[0], 3}, [&](const std::vector<int64_t>& y, size_t offset) {
      ASSERT_EQ(wide.output[offset], wide.in("X", y[1]));
    });
  }
}

TEST(Binary, OperationsEqualTheirDefinitions) {
  struct Case {
    const char* op;
    const char* dtype;
    double (*value)(double a, double b);
  };
  const Case cases[] = {
      {"add", "i8", [](double a, double b) { return a + b; }},
      {"mul", "f16", [](double a, double b) { return a * b; }},
      {"div", "f64", [](double a, double b) { return a / b; }},
      {"div", "i32", [](double a, double b) { return std::floor(a / b); }},
      {"div", "u32", [](double a, double b) { return std::floor(a / b); }},
      {"mod", "i64", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"pow", "f64", [](double a, double b) { return std::pow(a, b); }},
      {"max", "bf16", [](double a, double b) { return std::max(a, b); }},
      {"min", "u8", [](double a, double b) { return std::min(a, b); }},
      {"equal", "f32", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"not_equal", "i8", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {"less", "i32", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"less", "u16", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"less_equal", "f16", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"greater", "f64", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"greater_equal", "u8", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
  };
  for (const Case& c : cases) {
    const Evaluated op(fmt::format("binary:op={},a=40,b=40,dtype={}", c.op, c.dtype), 1, 5);
    for (int64_t k = 0; k < 40; ++k) {
      EXPECT_DOUBLE_EQ(op.output[static_cast<size_t>(k)], c.value(op.in("A", k), op.in("B", k)))
          << c.op;
    }
  }
}

TEST(Binary, LogicIsOfBool) {
  const Evaluated both("binary:op=and,a=16,b=16,dtype=bool", 0, 1);
  const Evaluated either("binary:op=or,a=16,b=16,dtype=bool", 0, 1);
  for (int64_t k = 0; k < 16; ++k) {
    const auto at = static_cast<size_t>(k);
    EXPECT_EQ(both.output[at], both.in("A", k) * both.in("B", k));
    EXPECT_EQ(either.output[at], std::max(either.in("A", k), either.in("B", k)));
  }
  EXPECT_EQ(both.dag->tensor(2).element, ir::Scalar::Bool);
}

TEST(Binary, Mistakes) {
  const Mistake mistakes[] = {
      {"binary:op=addd,a=4,b=4", "op has the unknown value 'addd'; did you mean add"},
      {"binary:op=add,a=4x3,b=4x2", "4x3 and 4x2 do not fit: dimension 1 is 3 and 2"},
      {"binary:op=mod,a=4,b=4", "mod is for integers, not for f32"},
      {"binary:op=pow,a=4,b=4,dtype=i8", "pow is for floats, not for i8"},
      {"binary:op=and,a=4,b=4", "and is for bool, not for f32"},
      {"binary:op=add,a=4,b=4,dtype=bool", "add is for numbers, not for bool"},
      {"binary:op=add,a=4,b=1x1x1x1x1x1x1x1x1x1x1", "a shape of 11 dimensions"},
      {"broadcast:shape=4x3,to=4", "broadcast: 4x3 cannot become 4"},
      {"broadcast:shape=3,to=4x2", "broadcast: 3 cannot become 4x2"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
