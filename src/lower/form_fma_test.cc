#include "lower/form_fma.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

std::string after_fma(ir::Type type, Expr (*value)(Expr, Expr, Expr),
                      FloatPermissions permissions = {}) {
  Kernel kernel;
  const auto out = kernel.argument("out", {1}, type);
  const auto in = [&](const char* name) {
    return kernel.load(kernel.argument(name, {1}, type), {ir::int_imm(0)});
  };
  const Expr a = in("a"), b = in("b"), c = in("c");
  kernel.function.body = ir::make_store(out, {ir::int_imm(0)}, value(a, b, c));
  return kernel.after(form_fma, permissions);
}

TEST(FormFma, Contracts) {
  struct Case {
    Expr (*value)(Expr, Expr, Expr);
    const char* text;
  };
  const Case cases[] = {
      {[](Expr a, Expr b, Expr c) { return a * b + c; }, "fma(a[0], b[0], c[0])"},
      {[](Expr a, Expr b, Expr c) { return c + a * b; }, "fma(a[0], b[0], c[0])"},
      {[](Expr a, Expr b, Expr c) { return c - a * b; }, "fma(neg(a[0]), b[0], c[0])"},
      {[](Expr a, Expr b, Expr c) { return a * b - c; }, "fma(a[0], b[0], neg(c[0]))"},
      {[](Expr a, Expr b, Expr c) { return a * b + c * c; }, "fma(a[0], b[0], c[0] * c[0])"},
      {[](Expr a, Expr b, Expr c) { return (a * b + c) * b + a; },
       "fma(fma(a[0], b[0], c[0]), b[0], a[0])"},
      {[](Expr a, Expr b, Expr c) { return (a + b) * c; }, "(a[0] + b[0]) * c[0]"},
  };
  for (const Case& c : cases) {
    const std::string expected = std::string("out[0] = ") + c.text + "\n";
    EXPECT_EQ(after_fma(ir::kF32, c.value), expected);
    EXPECT_EQ(after_fma({ir::Scalar::F64, 1}, c.value), expected);
  }
}

TEST(FormFma, OnlyFloatsAndOnlyWithThePermission) {
  const auto sum = [](Expr a, Expr b, Expr c) { return a * b + c; };
  EXPECT_EQ(after_fma({ir::Scalar::I32, 1}, sum), "out[0] = a[0] * b[0] + c[0]\n");
  EXPECT_EQ(after_fma(ir::kF32, sum, {.contract = false}), "out[0] = a[0] * b[0] + c[0]\n");
}

}  // namespace
}  // namespace tilewright::lower
