#include "te/ops/elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "te/ops/testing.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  const char* chain;
  double (*value)(double x, double b1, double b2);
};

TEST(Elementwise, LinksEqualTheirDefinitions) {
  const Case cases[] = {
      {"add+mul", [](double x, double a, double b) { return (x + a) * b; }},
      {"sub+max", [](double x, double a, double b) { return std::max(x - a, b); }},
      {"min+abs", [](double x, double a, double) { return std::fabs(std::min(x, a)); }},
      {"relu+scale", [](double x, double, double) { return std::max(x, 0.0) * 2; }},
      {"scale(-0.5)+shift", [](double x, double, double) { return x * -0.5 + 1; }},
      {"atleast(-1)+atmost",
       [](double x, double, double) { return std::min(std::max(x, -1.0), 6.0); }},
      {"neg+exp", [](double x, double, double) { return std::exp(-x); }},
      {"square+sqrt", [](double x, double, double) { return std::sqrt(x * x); }},
      {"pow(3)+log", [](double x, double, double) { return std::log(std::pow(x, 3)); }},
      {"scale(0.125)+tanh", [](double x, double, double) { return std::tanh(x / 8); }},
      {"scale(0.125)+erf", [](double x, double, double) { return std::erf(x / 8); }},
      {"shift(-4)+sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(4 - x)); }},
      {"rsqrt", [](double x, double, double) { return 1 / std::sqrt(x); }},
      {"scale(0.25)+floor", [](double x, double, double) { return std::floor(x / 4); }},
      {"scale(0.25)+round", [](double x, double, double) { return std::nearbyint(x / 4); }},
      {"shift(-4)+leaky(0.25)",
       [](double x, double, double) { return x < 4 ? (x - 4) / 4 : x - 4; }},
      {"add+div", [](double x, double a, double b) { return (x + a) / b; }},
  };
  for (const Case& c : cases) {
    const Evaluated chain(std::string("elementwise:shape=3x5,chain=") + c.chain, 1, 9);
    for (int64_t k = 0; k < 15; ++k) {
      const auto operand = [&](const char* name) {
        return chain.inputs.contains(name) ? chain.in(name, k) : 0;
      };
      const double expected = c.value(operand("X"), operand("B1"), operand("B2"));
      EXPECT_DOUBLE_EQ(chain.output[static_cast<size_t>(k)], expected) << c.chain;
    }
  }
}

TEST(Elementwise, Activations) {
  const Evaluated gelu("elementwise:shape=20,chain=gelu,dtype=f64", -6, 6);
  const Evaluated silu("elementwise:shape=20,chain=silu,dtype=f64", -6, 6);
  const Evaluated swish("elementwise:shape=20,chain=hard_swish,dtype=f64", -6, 6);
  for (int64_t k = 0; k < 20; ++k) {
    const double x = gelu.in("X", k);
    const auto at = static_cast<size_t>(k);
    EXPECT_NEAR(gelu.output[at], x / 2 * (1 + std::erf(x / std::sqrt(2))), 1e-15);
    EXPECT_DOUBLE_EQ(silu.output[at], x / (1 + std::exp(-x)));
    EXPECT_DOUBLE_EQ(swish.output[at], x * std::clamp(x + 3, 0.0, 6.0) / 6);
  }
}

TEST(Elementwise, BiasIsBroadcastOverTheLastAxis) {
  const Evaluated chain("elementwise:shape=2x3x4,chain=bias");
  ASSERT_EQ(chain.inputs.at("B1").size(), 4u);
  for (int64_t k = 0; k < 24; ++k) {
    EXPECT_EQ(chain.output[static_cast<size_t>(k)], chain.in("X", k) + chain.in("B1", k % 4));
  }
}

TEST(Elementwise, EachLinkIsAStage) {
  const auto dag = elementwise(std::array<int64_t, 2>{8, 16}, "relu+scale+add");
  ASSERT_TRUE(dag.has_value());
  std::vector<std::string> names;
  for (const Op& op : (*dag)->ops()) names.push_back(op.name.text());
  EXPECT_THAT(names, ElementsAre("X", "T1", "T2", "B3", "Y"));
  EXPECT_EQ((*dag)->op(4).axes[1].name.text(), "j");
}

TEST(Elementwise, IntermediateValuesAreF32) {
  const auto dag = elementwise(std::array<int64_t, 1>{8}, "relu+relu", ir::Scalar::BF16);
  ASSERT_TRUE(dag.has_value());
  EXPECT_EQ((*dag)->tensor(1).element, ir::Scalar::F32);
  EXPECT_EQ((*dag)->tensor(2).element, ir::Scalar::BF16);
}

TEST(Elementwise, IntegerChainsWrap) {
  const Evaluated chain("elementwise:shape=4,chain=scale(64)+neg,dtype=i8", 1, 3);
  for (int64_t k = 0; k < 4; ++k) {
    const auto product = static_cast<int8_t>(64 * static_cast<int>(chain.in("X", k)));
    EXPECT_EQ(chain.output[static_cast<size_t>(k)], static_cast<int8_t>(-product));
  }
}

TEST(Elementwise, Mistakes) {
  struct Mistake {
    const char* text;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"elementwise:shape=4,chain=rellu", "unknown link 'rellu'; did you mean relu or gelu?"},
      {"elementwise:shape=4,chain=relu+", "unknown link ''"},
      {"elementwise:shape=4,chain=relu(3)", "relu takes no number"},
      {"elementwise:shape=4,chain=scale(x)", "should read scale(NUMBER)"},
      {"elementwise:shape=4,chain=scale()", "should read scale(NUMBER)"},
      {"elementwise:shape=4,chain=scale(1", "should read scale(NUMBER)"},
      {"elementwise:shape=4,chain=scale(", "should read scale(NUMBER)"},
      {"elementwise:shape=4,chain=scale(inf)", "should read scale(NUMBER)"},
      {"elementwise:shape=4,chain=scale(1e60)", "is not a value of f32"},
      {"elementwise:shape=4,chain=scale(0.5),dtype=i32", "0.5 is not a value of i32"},
      {"elementwise:shape=4,chain=exp,dtype=i32", "exp is for floats, not for i32"},
      {"elementwise:shape=4,chain=gelu,dtype=i8", "gelu is for floats, not for i8"},
      {"elementwise:shape=4xx4,chain=relu", "'' is not a whole number"},
      {"elementwise:shape=4x0,chain=relu", "0 is out of range"},
      {"elementwise:shape=1x1x1x1x1x1x1x1x1x1x1,chain=relu", "a shape of 11 dimensions; 1 to 10"},
      {"elementwise:shape=4", "needs parameter chain"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto instance = parse_operator(mistake.text);
    ASSERT_FALSE(instance.has_value()) << mistake.text;
    EXPECT_THAT(instance.error().message, HasSubstr(mistake.message));
  }
}

}  // namespace
}  // namespace tilewright::te
