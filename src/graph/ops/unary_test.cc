#include <cmath>
#include <functional>
#include <limits>

#include "graph/ops/testing.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

const Numbers kPlaces = {-20,  -7.25, -3,  -1.5, -1, -0.75, -0.5, -0.125, -1e-3, 0,
                         1e-3, 0.125, 0.5, 0.75, 1,  1.5,   3,    7.25,   20};

// Compares an operator with `expected` at points in [low, high], in f32 and in f64.
void expect_function(const std::string& op, const std::function<double(double)>& expected,
                     double low, double high, const Attributes& attributes = {}) {
  Numbers places;
  for (const double x : kPlaces) {
    if (x >= low && x <= high) places.push_back(x);
  }
  for (const Scalar type : {Scalar::F32, Scalar::F64}) {
    const Constant result =
        run(op, attributes, {constant(type, {static_cast<int64_t>(places.size())}, places)});
    EXPECT_EQ(result.type().element, type);
    for (size_t k = 0; k < places.size(); ++k) {
      const double wanted = expected(ir::convert(places[k], type));
      const double close = type == Scalar::F32 ? 3e-7 : 1e-13;
      EXPECT_NEAR(result.number(static_cast<int64_t>(k)), wanted,
                  close * std::max(std::fabs(wanted), 1e-3))
          << op << " of " << places[k] << " as " << ir::name_of(type);
    }
  }
}

using Function = double (*)(double);

TEST(UnaryOps, FunctionsOfTheLibrary) {
  expect_function("exp", Function(std::exp), -20, 20);
  expect_function("log", Function(std::log), 1e-3, 20);
  expect_function("sqrt", Function(std::sqrt), 0, 20);
  expect_function("rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-3, 20);
  expect_function("reciprocal", [](double x) { return 1 / x; }, 1e-3, 20);
  expect_function("erf", Function(std::erf), -20, 20);
  expect_function("tanh", Function(std::tanh), -20, 20);
  expect_function("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20);
  expect_function("floor", Function(std::floor), -20, 20);
  expect_function("ceil", Function(std::ceil), -20, 20);
  expect_function("round", Function(std::nearbyint), -20, 20);
}

TEST(UnaryOps, FunctionsByArithmetic) {
  expect_function("sin", Function(std::sin), -20, 20);
  expect_function("cos", Function(std::cos), -20, 20);
  expect_function("tan", Function(std::tan), -20, 20);
  expect_function("asin", Function(std::asin), -1, 1);
  expect_function("acos", Function(std::acos), -1, 1);
  expect_function("atan", Function(std::atan), -20, 20);
  expect_function("sinh", Function(std::sinh), -20, 20);
  expect_function("cosh", Function(std::cosh), -20, 20);
  expect_function("asinh", Function(std::asinh), -20, 20);
  expect_function("acosh", Function(std::acosh), 1, 20);
  expect_function("atanh", Function(std::atanh), -0.75, 0.75);
  const Constant large = run("sin", {}, {f32({1000, -5000, 8192})});
  expect_near(numbers(large), {std::sin(1000.0), std::sin(-5000.0), std::sin(8192.0)}, 1e-6);
}

TEST(UnaryOps, Activations) {
  expect_function("relu", [](double x) { return std::max(x, 0.0); }, -20, 20);
  expect_function("softplus", [](double x) { return std::log1p(std::exp(x)); }, -20, 20);
  expect_function("softsign", [](double x) { return x / (1 + std::fabs(x)); }, -20, 20);
  expect_function("mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -20, 20);
  expect_function("silu", [](double x) { return x / (1 + std::exp(-x)); }, -20, 20);
  expect_function(
      "hard_swish", [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }, -20, 20);
  expect_function(
      "gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }, -3, 20);
  expect_function("gelu",
                  [](double x) {
                    const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
                    return x / 2 * (1 + std::tanh(inner));
                  },
                  -3, 20, {{"approximate", std::string("tanh")}});
}

TEST(UnaryOps, ActivationsWithNumbers) {
  const Constant x = f32({-2, -0.25, 0.25, 2});
  const auto check = [&](const std::string& op, const Attributes& attributes,
                         const Numbers& expected) {
    SCOPED_TRACE(op);
    expect_near(numbers(run(op, attributes, {x})), expected);
  };
  check("leaky_relu", {{"alpha", 0.1}}, {-0.2, -0.025, 0.25, 2});
  check("elu", {{"alpha", 2.0}}, {2 * std::expm1(-2), 2 * std::expm1(-0.25), 0.25, 2});
  check("celu", {{"alpha", 2.0}}, {2 * std::expm1(-1), 2 * std::expm1(-0.125), 0.25, 2});
  check("selu", {{"alpha", 2.0}, {"gamma", 3.0}},
        {6 * std::expm1(-2), 6 * std::expm1(-0.25), 0.75, 6});
  check("hard_sigmoid", {{"alpha", 0.5}, {"beta", 0.5}}, {0, 0.375, 0.625, 1});
  check("thresholded_relu", {{"alpha", 0.5}}, {0, 0, 0, 2});
  check("shrink", {{"bias", 0.5}, {"lambd", 1.0}}, {-1.5, 0, 0, 1.5});
}

TEST(UnaryOps, SignsAndTests) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Constant x = f32({-2, 0, 3, infinity, -infinity, NAN});
  const Numbers signs = numbers(run("sign", {}, {x}));
  EXPECT_EQ(Numbers(signs.begin(), signs.begin() + 5), (Numbers{-1, 0, 1, 1, -1}));
  EXPECT_TRUE(std::isnan(signs[5]));
  EXPECT_EQ(numbers(run("is_nan", {}, {x})), (Numbers{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(numbers(run("is_inf", {}, {x})), (Numbers{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(numbers(run("is_inf", {{"negative", int64_t{0}}}, {x})), (Numbers{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(numbers(run("is_inf", {{"positive", int64_t{0}}}, {x})), (Numbers{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(run("is_nan", {}, {x}).type().element, Scalar::Bool);
  EXPECT_EQ(numbers(run("not", {}, {boolean({2}, {0, 1})})), (Numbers{1, 0}));
  EXPECT_EQ(numbers(run("neg", {}, {i64({2}, {3, -4})})), (Numbers{-3, 4}));
  EXPECT_EQ(numbers(run("abs", {}, {i64({2}, {3, -4})})), (Numbers{3, 4}));
  EXPECT_EQ(numbers(run("sign", {}, {i64({3}, {3, -4, 0})})), (Numbers{1, -1, 0}));
  EXPECT_EQ(numbers(run("bit_not", {}, {constant(Scalar::U32, {2}, {0, 15})})),
            (Numbers{4294967295, 4294967280}));
  EXPECT_EQ(numbers(run("bit_not", {}, {constant(Scalar::U8, {2}, {0, 15})})), (Numbers{255, 240}));
  EXPECT_EQ(numbers(run("bit_not", {}, {constant(Scalar::I32, {2}, {0, 15})})), (Numbers{-1, -16}));
}

TEST(UnaryOps, Cast) {
  const auto to = [](const std::string& name) { return Attributes{{"to", name}}; };
  const Constant x = f32({1.5, -1.5, 300, 0});
  EXPECT_EQ(numbers(run("cast", to("i32"), {x})), (Numbers{1, -1, 300, 0}));
  EXPECT_EQ(numbers(run("cast", to("u8"), {x})), (Numbers{1, 0, 255, 0}));
  EXPECT_EQ(numbers(run("cast", to("bool"), {x})), (Numbers{1, 1, 1, 0}));
  EXPECT_EQ(numbers(run("cast", to("bf16"), {f32({1.00390625, 2})})), (Numbers{1, 2}));
  EXPECT_EQ(run("cast", to("f64"), {i64({}, {7})}).type().to_string(), "f64[]");
  const int64_t large[] = {(int64_t{1} << 40) + 5};
  EXPECT_EQ(run("cast", to("i32"), {Constant::of_integers({}, large)}).integer(0), 5);
}

TEST(UnaryOps, CodeSizeIsSmall) {
  // Expressions are unrolled and inlined as trees, so large ones cannot be scheduled.
  for (const OpDef& op : all_ops()) {
    if (op.work != Work::Map || op.min_operands != 1) continue;
    const auto dag =
        define(std::string(op.name), {{"to", std::string("f32")}}, {type_of({4}, Scalar::F64)});
    if (!dag) continue;
    EXPECT_LE((*dag)->access(1).instructions, 4000) << op.name;
  }
}

TEST(UnaryOps, Mistakes) {
  const TensorType n = type_of({4}, Scalar::I64);
  EXPECT_EQ(error_of("exp", {}, {n}), "exp: is for floats, not for i64");
  EXPECT_EQ(error_of("not", {}, {n}), "not: is for bool, not for i64");
  EXPECT_EQ(error_of("relu", {}, {type_of({4}, Scalar::Bool)}),
            "relu: is for numbers, not for bool");
  EXPECT_EQ(error_of("cast", {{"to", std::string("string")}}, {n}),
            "cast: to=string is not a type");
  EXPECT_EQ(error_of("elu", {{"alpha", std::numeric_limits<double>::infinity()}}, {type_of({4})}),
            "elu: alpha=inf is not finite");
  EXPECT_EQ(error_of("gelu", {{"approximate", std::string("what")}}, {type_of({4})}),
            "gelu: approximate=what is unknown; legal are none, tanh");
  EXPECT_EQ(error_of("exp", {}, {type_of({4}), type_of({4})}), "exp: 2 operands; 1 are wanted");
}

}  // namespace
}  // namespace tilewright::graph
