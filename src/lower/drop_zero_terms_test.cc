#include "lower/drop_zero_terms.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

std::string after_drop(Expr (*value)(Expr, Expr),
                       FloatPermissions permissions = {.winograd = true}) {
  Kernel kernel;
  const auto out = kernel.argument("out", {1}, ir::kF32);
  const auto in = kernel.argument("x", {1}, ir::kF32);
  const Expr acc = kernel.load(out, {ir::int_imm(0)});
  const Expr x = kernel.load(in, {ir::int_imm(0)});
  kernel.function.body =
      ir::make_block({ir::make_store(out, {ir::int_imm(0)}, value(acc, x)),
                      ir::make_store(out, {ir::int_imm(0)}, ir::imm(7, ir::kF32))});
  return kernel.after(drop_zero_terms, permissions);
}

Expr number(double value) { return ir::imm(value, ir::kF32); }

TEST(DropZeroTerms, DropsProductsWithZero) {
  const std::string rest = "out[0] = 7.0\n";
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return ir::fma(number(0), x, acc); }), rest);
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return ir::fma(x, number(-0.0), acc); }), rest);
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return acc + x * number(0); }), rest);
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return ir::fma(number(1), x, acc); }),
            "out[0] = out[0] + x[0]\n" + rest);
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return ir::fma(x, number(-1), acc); }),
            "out[0] = out[0] - x[0]\n" + rest);
  EXPECT_EQ(after_drop([](Expr, Expr x) { return ir::fma(x, number(1), number(0)); }),
            "out[0] = x[0]\n" + rest);
  EXPECT_EQ(after_drop([](Expr acc, Expr x) { return ir::fma(number(2), x, acc); }),
            "out[0] = fma(2.0, x[0], out[0])\n" + rest);
}

// 0 times infinity is NaN, which is kept without the permission.
TEST(DropZeroTerms, NeedsThePermission) {
  const auto value = [](Expr acc, Expr x) { return ir::fma(number(0), x, acc); };
  EXPECT_EQ(after_drop(value, {}), "out[0] = fma(0.0, x[0], out[0])\nout[0] = 7.0\n");
}

// A constant of the workload is finite: nothing of it times 0 is left, nor the loop around it.
TEST(DropZeroTerms, ConstantsAreFinite) {
  const auto lowered = [](bool finite, FloatPermissions permissions) {
    Kernel kernel;
    const auto out = kernel.argument("out", {1}, ir::kF32);
    const auto weights = kernel.argument("w", {8}, ir::kF32);
    kernel.function.buffers[weights].finite = finite;
    const Expr k = ir::var("k");
    const Expr acc = kernel.load(out, {ir::int_imm(0)});
    const Expr term = ir::fma(number(0), kernel.load(weights, {k}), acc);
    ir::Stmt zeros = ir::make_for(k, ir::int_imm(8), ir::ForKind::Serial,
                                  ir::make_store(out, {ir::int_imm(0)}, term));
    ir::Stmt some = ir::make_store(out, {ir::int_imm(0)}, number(3));
    kernel.function.body =
        ir::make_block({ir::make_if(kernel.load(out, {ir::int_imm(0)}) < number(1), some, zeros),
                        ir::make_store(out, {ir::int_imm(0)}, number(7))});
    return kernel.after(drop_zero_terms, permissions);
  };
  const std::string kept = "if out[0] < 1.0:\n  out[0] = 3.0\nout[0] = 7.0\n";
  EXPECT_EQ(lowered(true, {}), kept);
  EXPECT_NE(lowered(false, {}), kept);
  EXPECT_NE(lowered(true, {.reassociate = false}), kept);
}

}  // namespace
}  // namespace tilewright::lower
