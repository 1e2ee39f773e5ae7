#include "lower/expand_functions.h"

#include <gmock/gmock.h>

#include "ir/visit.h"
#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using testing::HasSubstr;
using testing::StartsWith;

bool calls(const ir::Stmt& stmt, ir::Intrinsic function) {
  struct Finder : ir::Visitor {
    using ir::Visitor::visit;
    void visit(const Expr& expr) override {
      const auto* call = expr.as<ir::Call>();
      found |= call != nullptr && call->function == wanted;
      ir::Visitor::visit(expr);
    }
    ir::Intrinsic wanted;
    bool found = false;
  };
  Finder finder;
  finder.wanted = function;
  finder.visit(stmt);
  return finder.found;
}

TEST(ExpandFunctions, BindsSharedValuesAboveTheStore) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), b = kernel.argument("B", {8});
  const Expr i = ir::var("i");
  kernel.function.body = loop(i, 8, ir::make_store(b, {i}, ir::exp(kernel.load(a, {i}))));
  EXPECT_EQ(kernel.after(expand_functions),
            "for i < 8:\n"
            "  let exp_x = A[i]\n"
            "  let exp_c = select(-104.0 > exp_x, -104.0, exp_x)\n"
            "  let exp_c = select(89.0 < exp_c, 89.0, exp_c)\n"
            "  let exp_n = fma(exp_c, 1.442695, 12582912.0) - 12582912.0\n"
            "  let exp_r = fma(exp_n, 0.00021219444, fma(exp_n, -0.6933594, exp_c))\n"
            "  B[i] = ldexp(fma(fma(fma(fma(fma(0.008261947, exp_r, 0.041898515), exp_r, "
            "0.1666818), exp_r, 0.49999145), exp_r, 0.99999946), exp_r, 1.0), exp_n)\n");
}

TEST(ExpandFunctions, SmallOnesInFull) {
  struct Case {
    ir::Intrinsic function;
    const char* text;
  };
  const Case cases[] = {
      {ir::Intrinsic::Rsqrt, "B[0] = 1.0 / sqrt(A[0])\n"},
      {ir::Intrinsic::Sigmoid,
       "let sigmoid_x = A[0]\n"
       "let sigmoid_c = neg(abs(sigmoid_x))\n"
       "let sigmoid_c = select(-104.0 > sigmoid_c, -104.0, sigmoid_c)\n"
       "let exp_n = fma(sigmoid_c, 1.442695, 12582912.0) - 12582912.0\n"
       "let exp_r = fma(exp_n, 0.00021219444, fma(exp_n, -0.6933594, sigmoid_c))\n"
       "let sigmoid_e = ldexp(fma(fma(fma(fma(fma(0.008261947, exp_r, 0.041898515), exp_r, "
       "0.1666818), exp_r, 0.49999145), exp_r, 0.99999946), exp_r, 1.0), exp_n)\n"
       "B[0] = select(sigmoid_x < 0.0, sigmoid_e, 1.0) / (1.0 + sigmoid_e)\n"},
      {ir::Intrinsic::Tanh,
       "let tanh_x = A[0]\n"
       "let tanh_a = abs(tanh_x)\n"
       "let tanh_a = select(10.0 < tanh_a, 10.0, tanh_a)\n"
       "let tanh_n = fma(tanh_a, 2.88539, 12582912.0) - 12582912.0\n"
       "let tanh_h = fma(tanh_n, -0.3465736, tanh_a)\n"
       "let tanh_power = ldexp(1.0, tanh_n)\n"
       "let tanh_t = fma(tanh_power, tanh_h * fma(fma(fma(fma(fma(0.08886951, tanh_h, 0.2677499), "
       "tanh_h, 0.6666775), tanh_h, 1.3333238), tanh_h, 1.9999999), tanh_h, 2.0), "
       "tanh_power - 1.0)\n"
       "B[0] = bitcast(f32, bitcast(i32, tanh_t / (tanh_t + 2.0)) | (bitcast(i32, tanh_x) & "
       "i32(-2147483648)))\n"},
  };
  for (const Case& c : cases) {
    Kernel kernel;
    const auto a = kernel.argument("A", {1}), b = kernel.argument("B", {1});
    const Expr zero = ir::int_imm(0);
    kernel.function.body =
        ir::make_store(b, {zero}, ir::call(c.function, {kernel.load(a, {zero})}));
    EXPECT_EQ(kernel.after(expand_functions), c.text);
  }
}

// Vectors are expanded as vectors, and every function and type gives valid IR.
TEST(ExpandFunctions, AllOfThem) {
  using enum ir::Intrinsic;
  for (const ir::Intrinsic function : {Exp, Log, Tanh, Erf, Sigmoid, Rsqrt, Pow}) {
    for (const ir::Scalar scalar : {ir::Scalar::F32, ir::Scalar::F64}) {
      Kernel kernel;
      const auto b = kernel.argument("B", {16}, {scalar, 1});
      const Expr at = ir::ramp(ir::int_imm(0), 1, 8), value = kernel.load(b, {at});
      std::vector<Expr> arguments = {value};
      if (function == Pow) arguments.push_back(kernel.load(b, {at + 8}));
      kernel.function.body = ir::make_store(b, {at}, ir::call(function, arguments));
      EXPECT_THAT(kernel.after(expand_functions), HasSubstr("B[ramp(0, 1, 8)] = "));
      EXPECT_FALSE(calls(kernel.function.body, function)) << kernel.text();
    }
  }
}

TEST(ExpandFunctions, SmallPowersAreProducts) {
  for (const auto& [exponent, product] :
       {std::pair(2, "pow_x * pow_x"), std::pair(3, "pow_x * pow_x * pow_x")}) {
    Kernel kernel;
    const auto b = kernel.argument("B", {1});
    const Expr zero = ir::int_imm(0), y = ir::float_imm(exponent, ir::kF32);
    kernel.function.body =
        ir::make_store(b, {zero}, ir::call(ir::Intrinsic::Pow, {kernel.load(b, {zero}), y}));
    EXPECT_EQ(kernel.after(expand_functions),
              std::string("let pow_x = B[0]\nB[0] = ") + product + "\n");
  }
}

TEST(ExpandFunctions, KeepsSelectsLazy) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), b = kernel.argument("B", {9});
  const Expr i = ir::var("i");
  const Expr zero = ir::float_imm(0, ir::kF32);
  const Expr inner = ir::select(i >= 1, ir::exp(kernel.load(a, {i - 1})), zero);
  kernel.function.body = loop(i, 9, ir::make_store(b, {i}, ir::select(i < 1, zero, inner)));
  EXPECT_THAT(kernel.after(expand_functions),
              StartsWith("for i < 9:\n"
                         "  let exp_x = select(i < 1, 0.0, select(i >= 1, A[i - 1], 0.0))\n"));
  EXPECT_THAT(kernel.text(), HasSubstr("  B[i] = select(i < 1, 0.0, select(i >= 1, ldexp(fma("));
}

TEST(ExpandFunctions, KeepsBothArgumentsOfPowLazy) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), b = kernel.argument("B", {9});
  const Expr i = ir::var("i"), previous = kernel.load(a, {i - 1});
  const Expr power = ir::call(ir::Intrinsic::Pow, {previous, previous});
  kernel.function.body =
      loop(i, 9, ir::make_store(b, {i}, ir::select(i >= 1, power, ir::float_imm(0, ir::kF32))));
  EXPECT_THAT(kernel.after(expand_functions),
              StartsWith("for i < 9:\n"
                         "  let pow_x = select(i >= 1, A[i - 1], 0.0)\n"
                         "  let pow_y = select(i >= 1, A[i - 1], 0.0)\n"));
}

TEST(ExpandFunctions, InConditionsAndLets) {
  Kernel kernel;
  const auto b = kernel.argument("B", {1});
  const Expr x = ir::var("x", ir::kF32), one = ir::float_imm(1, ir::kF32);
  const ir::Stmt store = ir::make_store(b, {ir::int_imm(0)}, x);
  kernel.function.body = ir::make_let(x, ir::exp(kernel.load(b, {ir::int_imm(0)})),
                                      ir::make_if(ir::exp(x) < one, store));
  const std::string text = kernel.after(expand_functions);
  EXPECT_THAT(text, HasSubstr("\nlet x = ldexp(fma("));
  EXPECT_THAT(text, HasSubstr("\nif ldexp(fma("));
}

TEST(ExpandFunctions, LeavesTheRest) {
  Kernel kernel;
  const auto b = kernel.argument("B", {1});
  kernel.function.body = ir::make_store(
      b, {ir::int_imm(0)}, ir::call(ir::Intrinsic::Sqrt, {kernel.load(b, {ir::int_imm(0)})}));
  EXPECT_TRUE(kernel.unchanged_by(expand_functions));
}

}  // namespace
}  // namespace tilewright::lower
