#include "lower/hoist_conditions.h"

#include "lower/build_nest.h"
#include "lower/flatten.h"
#include "lower/pass_test.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::ForKind;
using ir::Stmt;

class HoistConditions : public testing::Test {
 protected:
  std::string after(Stmt body) {
    kernel.function.body = std::move(body);
    return kernel.after(hoist_conditions);
  }
  Stmt store(Expr index, Expr value) {
    return ir::make_store(y, {std::move(index)}, std::move(value));
  }
  // y = condition ? a[index] : 0
  Stmt padded(Expr to, Expr condition, Expr index) {
    return store(std::move(to), ir::select(std::move(condition), at(std::move(index)), zero));
  }
  Expr at(Expr index) { return kernel.load(a, {std::move(index)}); }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {65536}), y = kernel.argument("Y", {65536});
  const Expr i = ir::var("i"), x = ir::var("x"), r = ir::var("r"), c = ir::var("c");
  const Expr zero = ir::float_imm(0, ir::kF32);
};

TEST_F(HoistConditions, SplitsLoopsAtTheBoundary) {
  EXPECT_EQ(after(loop(x, 16, padded(x, (x >= 1) && (x < 15), x - 1))),
            "Y[0] = 0.0\n"
            "for x < 14:\n"
            "  Y[x + 1] = A[x]\n"
            "Y[15] = 0.0\n");
  EXPECT_EQ(after(loop(x, 16, padded(x, ir::int_imm(9) - x >= 3, x))),
            "for x < 7:\n"
            "  Y[x] = A[x]\n"
            "for x < 9:\n"
            "  Y[x + 7] = 0.0\n");
  // Both arms of an If are there already: nothing is copied.
  EXPECT_EQ(after(loop(x, 4,
                       ir::make_if(x < 3, loop(c, 8, store(x * 8 + c, at(c))),
                                   loop(r, 5, store(x * 8 + r, at(r)))))),
            "for x < 3:\n"
            "  for c < 8:\n"
            "    Y[x * 8 + c] = A[c]\n"
            "for r < 5:\n"
            "  Y[r + 24] = A[r]\n");
}

TEST_F(HoistConditions, HoistsLoopInvariantConditions) {
  EXPECT_EQ(after(loop(i, 8, loop(x, 9, padded(i * 9 + x, i % 2 < 1, x)), ForKind::Parallel)),
            "parallel for i < 8:\n"
            "  if i % 2 < 1:\n"
            "    for x < 9:\n"
            "      Y[i * 9 + x] = A[x]\n"
            "  else:\n"
            "    for x < 9:\n"
            "      Y[i * 9 + x] = 0.0\n");
  // One condition depends on the outer loop, the other on the loop itself.
  EXPECT_EQ(
      after(loop(i, 8, loop(x, 9, padded(i * 9 + x, (i >= 2) && (x < 8), x)), ForKind::Parallel)),
      "parallel for i < 8:\n"
      "  if i >= 2:\n"
      "    for x < 8:\n"
      "      Y[i * 9 + x] = A[x]\n"
      "    Y[i * 9 + 8] = 0.0\n"
      "  else:\n"
      "    for x < 9:\n"
      "      Y[i * 9 + x] = 0.0\n");
}

// The interior has no condition; where a window crosses the border, the window is cut.
TEST_F(HoistConditions, StencilLoopsAreSplitAtTheBorder) {
  const Expr value = ir::select(x + r >= 1, at(x + r - 1), zero);
  const Stmt fold = store(x, ir::max(kernel.load(y, {x}), value));
  EXPECT_EQ(after(loop(x, 14, loop(r, 3, fold))),
            "Y[0] = max(Y[0], 0.0)\n"
            "for r < 2:\n"
            "  Y[0] = max(Y[0], A[r])\n"
            "for x < 13:\n"
            "  for r < 3:\n"
            "    Y[x + 1] = max(Y[x + 1], A[x + r])\n");
}

TEST_F(HoistConditions, UnrolledCopiesResolveConditions) {
  const Expr value = ir::select(x + r >= 1, at(x + r - 1), zero);
  const Stmt fold = store(x, kernel.load(y, {x}) + value);
  EXPECT_EQ(after(loop(r, 3, loop(c, 64, loop(x, 3, fold, ForKind::Unrolled)))),
            "for c < 64:\n"
            "  Y[0] = Y[0] + 0.0\n"
            "  Y[1] = Y[1] + A[0]\n"
            "  Y[2] = Y[2] + A[1]\n"
            "for r < 2:\n"
            "  for c < 64:\n"
            "    Y[0] = Y[0] + A[r]\n"
            "    Y[1] = Y[1] + A[r + 1]\n"
            "    Y[2] = Y[2] + A[r + 2]\n");
}

TEST_F(HoistConditions, VectorizedLoopsAreSplitAtWholeVectors) {
  EXPECT_EQ(after(loop(x, 200, padded(x, (x >= 1) && (x < 199), x - 1), ForKind::Vectorized)),
            "vectorize for x < 16:\n"
            "  Y[x] = select(x >= 1, A[x - 1], 0.0)\n"
            "vectorize for x < 176:\n"
            "  Y[x + 16] = A[x + 15]\n"
            "vectorize for x < 8:\n"
            "  Y[x + 192] = select(x < 7, A[x + 191], 0.0)\n");
  kernel.function.body = loop(x, 30, padded(x, x >= 1, x - 1), ForKind::Vectorized);
  EXPECT_TRUE(kernel.unchanged_by(hoist_conditions)) << kernel.text();
}

TEST_F(HoistConditions, ImpliedConditionsAreDropped) {
  EXPECT_EQ(after(loop(x, 8, padded(x, x < 8, x))),
            "for x < 8:\n"
            "  Y[x] = A[x]\n");
  // i >= 4 implies i >= 2; without it i < 2 is open.
  const Stmt both = ir::make_block(
      {padded(i * 99 + x, i * 5 % 9 >= 4, x), padded(i * 99 + x, i * 5 % 9 >= 2, x + 9)});
  EXPECT_EQ(after(loop(i, 9, loop(x, 99, both), ForKind::Parallel)),
            "parallel for i < 9:\n"
            "  if i * 5 % 9 >= 4:\n"
            "    for x < 99:\n"
            "      Y[i * 99 + x] = A[x]\n"
            "      Y[i * 99 + x] = A[x + 9]\n"
            "  else:\n"
            "    if i * 5 % 9 >= 2:\n"
            "      for x < 99:\n"
            "        Y[i * 99 + x] = 0.0\n"
            "        Y[i * 99 + x] = A[x + 9]\n"
            "    else:\n"
            "      for x < 99:\n"
            "        Y[i * 99 + x] = 0.0\n"
            "        Y[i * 99 + x] = 0.0\n");
}

TEST_F(HoistConditions, LeavesUnsafeConditions) {
  const Expr positive = ir::binary(ir::BinaryOp::Gt, at(i), zero);
  const Expr quotient = ir::int_imm(8) / x < 3;  // no value at 0
  const Stmt cases[] = {
      loop(i, 8, loop(x, 9, padded(x, positive, x))),                   // loads
      loop(x, 8, loop(c, 9, padded(c, quotient, c))),                   // may fail
      loop(x, 8, padded(x, x >= 1, x), ForKind::Parallel),              // in order of threads
      loop(i, 8, loop(x, 9, padded(x, i >= 1, x), ForKind::Parallel)),  // copies of it
      ir::make_for(x, ir::cast(ir::Scalar::I64, ir::cast(ir::Scalar::I32, ir::int_imm(8))),
                   ForKind::Parallel, store(x, zero)),
      loop(i, 8,
           loop(x, 2, store(x, kernel.load(y, {x}) + ir::select(i * i % 3 < 1, at(x), zero)),
                ForKind::Unrolled)),  // accumulators would leave their registers
  };
  for (const Stmt& body : cases) {
    kernel.function.body = body;
    EXPECT_TRUE(kernel.unchanged_by(hoist_conditions)) << kernel.text();
  }
}

// Twelve independent conditions would be 4096 copies.
TEST_F(HoistConditions, CopiesHaveALimit) {
  std::vector<Stmt> stores;
  for (int64_t k = 0; k < 12; ++k) {
    stores.push_back(padded(i * 4096 + x * 12 + k, i * (7 * k + 13) % 31 < 15, x + k));
  }
  const std::string text =
      after(loop(i, 99, loop(x, 64, ir::make_block(stores)), ForKind::Parallel));
  const auto lines = std::ranges::count(text, '\n');
  EXPECT_GT(lines, 400);
  EXPECT_LT(lines, 900);
  EXPECT_NE(text.find("select("), std::string::npos);
}

std::string conv_or_pool(std::string_view what, std::string_view trace_text) {
  const Workload workload = *parse_workload(what);
  const schedule::Trace trace = *schedule::trace_from_text(trace_text);
  const auto tree = schedule::apply_or_explain(*schedule::initial_tree(workload), trace);
  if (!tree) return tree.error().message;
  const Target target = *parse_target("x86-64-v4;threads=1");
  ir::Function function = build_nest(workload, target, *tree, trace);
  flatten(function, {target, {}});
  const std::string before = ir::to_string(function);
  EXPECT_NE(before.find("select("), std::string::npos) << before;
  hoist_conditions(function, {target, {}});
  const Status verified = ir::verify(function);
  EXPECT_TRUE(verified) << verified.error().message;
  return ir::to_string(function.body, [&](ir::BufferId id) { return function.buffers[id].name; });
}

TEST(HoistConditionsOf, ConvolutionWithInlinedPadding) {
  EXPECT_EQ(
      conv_or_pool("conv2d:n=1,h=14,w=14,ci=64,co=32,kernel=3,stride=1,pad=1", "compute_inline P"),
      R"(for y < 14:
  for x < 14:
    for c < 32:
      Y[y * 448 + x * 32 + c] = 0.0
      for ry < 3:
        for rx < 3:
          if y + ry >= 1 && y + ry < 15 && x + rx >= 1 && x + rx < 15:
            for rc < 64:
              Y[y * 448 + x * 32 + c] = Y[y * 448 + x * 32 + c] + X[y * 896 + x * 64 + ry * 896 + rx * 64 + rc - 960] * W[c + ry * 6144 + rx * 2048 + rc * 32]
          else:
            for rc < 64:
              Y[y * 448 + x * 32 + c] = Y[y * 448 + x * 32 + c] + 0.0 * W[c + ry * 6144 + rx * 2048 + rc * 32]
)");
}

// Left border, interior and right border of a row of pixels, each in its own loop over channels.
TEST(HoistConditionsOf, TiledConvolution) {
  const std::string text = conv_or_pool("conv2d:n=1,h=14,w=14,ci=64,co=32,kernel=3,stride=1,pad=1",
                                        "compute_inline P\nsplit Y x [7]\nsplit Y c [32]\nreorder "
                                        "Y [x.0, c.0, ry, rx, rc, x.1, c.1]\n"
                                        "annotate Y x.1 unroll\nannotate Y c.1 vectorize");
  EXPECT_EQ(text.find("select("), std::string::npos) << text;
  size_t loops = 0;
  for (size_t at = text.find("for rc < 64"); at != std::string::npos;
       at = text.find("for rc < 64", at + 1)) {
    ++loops;
  }
  EXPECT_EQ(loops, 4u) << text;  // and one where the row above or below is missing
}

TEST(HoistConditionsOf, Padding) {
  const std::string text = conv_or_pool("conv2d:n=1,h=6,w=6,ci=64,co=8,kernel=3,stride=1,pad=1",
                                        "annotate P c vectorize");
  const std::string_view padding = R"(allocate P
for x < 8:
  vectorize for c < 64:
    P[x * 64 + c] = 0.0
for y < 6:
  vectorize for c < 64:
    P[y * 512 + c + 512] = 0.0
  for x < 6:
    vectorize for c < 64:
      P[y * 512 + x * 64 + c + 576] = X[y * 384 + x * 64 + c]
  vectorize for c < 64:
    P[y * 512 + c + 960] = 0.0
for x < 8:
  vectorize for c < 64:
    P[x * 64 + c + 3584] = 0.0
)";
  EXPECT_EQ(text.substr(0, padding.size()), padding);
}

// Corners, edges and the interior: nine loop nests without conditions.
TEST(HoistConditionsOf, Pooling) {
  const std::string text =
      conv_or_pool("pool:op=max,spatial=9x9,c=16,kernel=3x3,stride=1,pad=1",
                   "compute_inline P\nreorder Y [ry, rx, c]\nannotate Y c vectorize");
  EXPECT_EQ(text.find("select("), std::string::npos) << text;
  EXPECT_EQ(text.find("if "), std::string::npos) << text;
  const std::string_view interior = R"(
  for x < 7:
    vectorize for c < 16:
      Y[y * 144 + x * 16 + c + 160] = -inf
    for ry < 3:
      for rx < 3:
        vectorize for c < 16:
          Y[y * 144 + x * 16 + c + 160] = max(Y[y * 144 + x * 16 + c + 160], X[y * 144 + x * 16 + ry * 144 + rx * 16 + c])
)";
  EXPECT_NE(text.find(interior), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewright::lower
