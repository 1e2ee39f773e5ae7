#include "lower/expand_functions.h"

#include <gmock/gmock.h>

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using testing::HasSubstr;
using testing::StartsWith;

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
            "  B[i] = ldexp(fma(fma(fma(fma(fma(fma(0.0013780377, exp_r, 0.008368882), exp_r, "
            "0.04166909), exp_r, 0.1666652), exp_r, 0.4999999), exp_r, 1.0), exp_r, 1.0), "
            "exp_n)\n");
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
