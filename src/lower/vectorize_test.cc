#include "lower/vectorize.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::ForKind;

constexpr ir::Type kI32{ir::Scalar::I32, 1};

class Vectorize : public testing::Test {
 protected:
  // The text after vectorizing a loop over `j` with that body.
  std::string after(int64_t extent, ir::Stmt body, FloatPermissions permissions = {}) {
    kernel.function.body = loop(j, extent, std::move(body), ForKind::Vectorized);
    return kernel.after(vectorize, permissions);
  }
  ir::Stmt store(ir::BufferId buffer, Expr index, Expr value) {
    return ir::make_store(buffer, {std::move(index)}, std::move(value));
  }
  Expr at(ir::BufferId buffer, Expr index) { return kernel.load(buffer, {std::move(index)}); }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {4096}), b = kernel.argument("B", {4096});
  const ir::BufferId c = kernel.argument("C", {4096});
  const Expr j = ir::var("j"), k = ir::var("k");
  const Expr zero = ir::int_imm(0);
};

TEST_F(Vectorize, WholeVectors) {
  EXPECT_EQ(after(16, store(c, j, at(a, zero) * at(b, j))),
            "C[ramp(0, 1, 16)] = x16(A[0]) * B[ramp(0, 1, 16)]\n");
  EXPECT_EQ(after(32, store(c, j + 5, at(b, j))),
            "unroll for j < 2:\n"
            "  C[ramp(j * 16 + 5, 1, 16)] = B[ramp(j * 16, 1, 16)]\n");
}

TEST_F(Vectorize, RestInHalves) {
  EXPECT_EQ(after(7, store(c, j, at(b, j))),
            "C[ramp(0, 1, 4)] = B[ramp(0, 1, 4)]\n"
            "C[ramp(4, 1, 2)] = B[ramp(4, 1, 2)]\n"
            "C[6] = B[6]\n");
  EXPECT_EQ(after(17, store(c, j, at(b, j))),
            "C[ramp(0, 1, 16)] = B[ramp(0, 1, 16)]\n"
            "C[16] = B[16]\n");
}

TEST_F(Vectorize, RestUnderAMask) {
  const Target target = parse_target("x86-64-v4").value();
  const auto masked = [&](int64_t extent, ir::Stmt body) {
    kernel.function.body = loop(j, extent, std::move(body), ForKind::Vectorized);
    FloatPermissions reassociate;
    reassociate.reassociate = true;
    return kernel.after(vectorize, target, reassociate);
  };
  EXPECT_EQ(masked(7, store(c, j, at(b, j))),
            "C[ramp(0, 1, 8)] = select(ramp(0, 1, 8) < x8(7), B[ramp(0, 1, 8)], x8(0.0)) "
            "where ramp(0, 1, 8) < x8(7)\n");
  // Whole vectors, and a remainder that is one shorter vector, have no mask.
  EXPECT_EQ(masked(20, store(c, j, at(b, j))),
            "C[ramp(0, 1, 16)] = B[ramp(0, 1, 16)]\nC[ramp(16, 1, 4)] = B[ramp(16, 1, 4)]\n");
  EXPECT_EQ(masked(35, store(c, j, at(b, zero))),
            "unroll for j < 2:\n"
            "  C[ramp(j * 16, 1, 16)] = x16(B[0])\n"
            "C[ramp(32, 1, 4)] = x4(B[0]) where ramp(0, 1, 4) < x4(3)\n");
  // A division could trap in the other lanes.
  const auto d = kernel.argument("D", {64}, kI32);
  EXPECT_EQ(masked(3, store(d, j, at(d, j) / at(d, j + 8))),
            "D[ramp(0, 1, 2)] = D[ramp(0, 1, 2)] / D[ramp(8, 1, 2)]\nD[2] = D[2] / D[10]\n");
  // A fold ignores the other lanes.
  EXPECT_EQ(masked(3, store(c, zero, at(c, zero) + at(b, j))),
            "C[0] = C[0] + reduce(+, select(ramp(0, 1, 4) < x4(3), select(ramp(0, 1, 4) < x4(3), "
            "B[ramp(0, 1, 4)], x4(0.0)), x4(0.0)))\n");
}

TEST_F(Vectorize, WidthOfTheWidestElement) {
  const auto d = kernel.argument("D", {64}, {ir::Scalar::F64, 1});
  EXPECT_EQ(after(8, store(d, j, ir::cast(ir::Scalar::F64, at(a, j)))),
            "D[ramp(0, 1, 8)] = f64x8(A[ramp(0, 1, 8)])\n");
}

TEST_F(Vectorize, StridesAndGathers) {
  EXPECT_EQ(after(4, store(c, j * 3, at(b, j * -2 + 9))), "C[ramp(0, 3, 4)] = B[ramp(9, -2, 4)]\n");
  EXPECT_EQ(after(4, store(c, j, at(b, j / 2 + 1))),
            "C[ramp(0, 1, 4)] = B[ramp(0, 1, 4) / x4(2) + x4(1)]\n");
}

TEST_F(Vectorize, LetsLoopsAndConditionsInside) {
  const Expr x = ir::var("x", ir::kF32), y = ir::var("y", ir::kF32);
  ir::Stmt body = store(c, j, x + y);
  body = ir::make_let(x, at(a, j), ir::make_let(y, at(a, zero), body));
  const Expr i = ir::var("i");
  body = ir::make_block({store(c, j, ir::float_imm(0, ir::kF32)),
                         loop(k, 3, ir::make_if(i < 2, store(c, j, at(a, k) + at(c, j)))), body});
  kernel.function.body = loop(i, 4, loop(j, 4, body, ForKind::Vectorized));
  EXPECT_EQ(kernel.after(vectorize),
            "for i < 4:\n"
            "  C[ramp(0, 1, 4)] = x4(0.0)\n"
            "  for k < 3:\n"
            "    if i < 2:\n"
            "      C[ramp(0, 1, 4)] = x4(A[k]) + C[ramp(0, 1, 4)]\n"
            "  let x = A[ramp(0, 1, 4)]\n"
            "  let y = A[0]\n"
            "  C[ramp(0, 1, 4)] = x + x4(y)\n");
}

TEST_F(Vectorize, IndicesOfAValueWithLanes) {
  const Expr x = ir::var("x");
  EXPECT_EQ(after(4, ir::make_let(x, j % 3, store(c, j, at(b, x / 2 * 5 + 1)))),
            "let x = ramp(0, 1, 4) % x4(3)\n"
            "C[ramp(0, 1, 4)] = B[x / x4(2) * x4(5) + x4(1)]\n");
}

TEST_F(Vectorize, SelectsByLane) {
  const Expr none = ir::float_imm(0, ir::kF32);
  EXPECT_EQ(after(4, store(c, j, ir::select(j >= 1, at(a, j - 1) + at(b, zero), none))),
            "C[ramp(0, 1, 4)] = select(ramp(0, 1, 4) >= x4(1), "
            "A[ramp(-1, 1, 4)] + B[x4(0)], x4(0.0))\n");
}

TEST_F(Vectorize, ConditionsByLaneAreMasks) {
  EXPECT_EQ(after(16, ir::make_if(j < 13, store(c, j, at(b, j) * at(a, zero)))),
            "C[ramp(0, 1, 16)] = select(ramp(0, 1, 16) < x16(13), B[ramp(0, 1, 16)], x16(0.0)) * "
            "x16(A[0]) where ramp(0, 1, 16) < x16(13)\n");
  EXPECT_EQ(after(4, ir::make_if(j < 3, store(c, j, at(c, j) + at(b, j)))),
            "C[ramp(0, 1, 4)] = select(ramp(0, 1, 4) < x4(3), C[ramp(0, 1, 4)], x4(0.0)) + "
            "select(ramp(0, 1, 4) < x4(3), B[ramp(0, 1, 4)], x4(0.0)) "
            "where ramp(0, 1, 4) < x4(3)\n");
  EXPECT_EQ(after(4, ir::make_if(j < 1, store(c, j, at(a, zero)), store(b, j, at(a, zero)))),
            "C[ramp(0, 1, 4)] = x4(A[0]) where ramp(0, 1, 4) < x4(1)\n"
            "B[ramp(0, 1, 4)] = x4(A[0]) where ramp(0, 1, 4) >= x4(1)\n");
}

TEST_F(Vectorize, ConstantMasks) {
  EXPECT_EQ(after(4, ir::make_if(j < 9, store(c, j, at(b, j)))),
            "C[ramp(0, 1, 4)] = B[ramp(0, 1, 4)]\n");
  EXPECT_EQ(
      after(4, ir::make_block({store(c, j, at(b, j)), ir::make_if(j >= 4, store(b, j, at(c, j)))})),
      "C[ramp(0, 1, 4)] = B[ramp(0, 1, 4)]\n");
  EXPECT_EQ(after(5, ir::make_if(j < 2, store(c, j, at(a, zero)), store(b, j, at(a, zero)))),
            "C[ramp(0, 1, 4)] = x4(A[0]) where ramp(0, 1, 4) < x4(2)\n"
            "B[ramp(0, 1, 4)] = x4(A[0]) where ramp(0, 1, 4) >= x4(2)\n"
            "B[4] = A[0]\n");
}

// Only the last of several vectors has a tail.
TEST_F(Vectorize, MasksDifferByVector) {
  EXPECT_EQ(after(48, ir::make_if(j < 45, store(c, j, at(a, zero)))),
            "C[ramp(0, 1, 16)] = x16(A[0])\n"
            "C[ramp(16, 1, 16)] = x16(A[0])\n"
            "C[ramp(32, 1, 16)] = x16(A[0]) where ramp(0, 1, 16) < x16(13)\n");
}

// Some lane always holds in the first, so that A[0] may be loaded; in the second perhaps none.
TEST_F(Vectorize, MasksFromOuterLoops) {
  const Expr i = ir::var("i");
  const auto rows = [&](int64_t limit) {
    const ir::Stmt body = ir::make_if(i * 16 + j < limit, store(c, i * 16 + j, at(a, zero)));
    kernel.function.body = loop(i, 4, loop(j, 16, body, ForKind::Vectorized));
    return kernel.after(vectorize);
  };
  EXPECT_EQ(rows(61),
            "for i < 4:\n"
            "  let mask = ramp(i * 16, 1, 16) < x16(61)\n"
            "  C[ramp(i * 16, 1, 16)] = x16(A[0]) where mask\n");
  EXPECT_EQ(rows(30),
            "for i < 4:\n"
            "  let mask = ramp(i * 16, 1, 16) < x16(30)\n"
            "  if reduce(||, mask):\n"
            "    C[ramp(i * 16, 1, 16)] = x16(A[0]) where mask\n");
}

TEST_F(Vectorize, NestedMasksLetsLoopsAndReductions) {
  const Expr x = ir::var("x", ir::kF32);
  const ir::Stmt inner = ir::make_if(j >= 1, ir::make_let(x, at(b, j), store(c, j, x)));
  EXPECT_EQ(after(4, ir::make_if(j < 3, loop(k, 2, inner))),
            "for k < 2:\n"
            "  let x = select(ramp(0, 1, 4) < x4(3) && ramp(0, 1, 4) >= x4(1), "
            "B[ramp(0, 1, 4)], x4(0.0))\n"
            "  C[ramp(0, 1, 4)] = x where ramp(0, 1, 4) < x4(3) && ramp(0, 1, 4) >= x4(1)\n");
  EXPECT_EQ(after(4, ir::make_if(j < 3, store(c, zero, ir::max(at(c, zero), at(a, j))))),
            "C[0] = max(C[0], reduce(max, select(ramp(0, 1, 4) < x4(3), "
            "select(ramp(0, 1, 4) < x4(3), A[ramp(0, 1, 4)], x4(0.0)), x4(-inf))))\n");
  // The loop may store to an operand of the mask.
  const Expr positive = ir::binary(ir::BinaryOp::Gt, at(c, j), ir::float_imm(0, ir::kF32));
  EXPECT_EQ(after(4, ir::make_if(positive, store(c, j, x + x))).substr(0, 7), "kernel:");  // no x
  EXPECT_EQ(after(4, ir::make_if(positive, store(c, j, at(a, zero)))),
            "let mask = C[ramp(0, 1, 4)] > x4(0.0)\n"
            "if reduce(||, mask):\n"
            "  C[ramp(0, 1, 4)] = x4(A[0]) where mask\n");
}

TEST_F(Vectorize, PredicatesStreamsAndPrefetches) {
  const ir::Stmt body =
      ir::make_block({ir::make_prefetch(b, {j * 4 + 64}), ir::make_prefetch(b, {j / 2}),
                      ir::make_store(c, {j}, at(a, zero), j < 3, /*stream=*/true)});
  EXPECT_EQ(after(4, body),
            "prefetch B[64]\n"
            "stream C[ramp(0, 1, 4)] = x4(A[0]) where ramp(0, 1, 4) < x4(3)\n");
}

TEST_F(Vectorize, ReductionsOverLanes) {
  EXPECT_EQ(after(16, store(c, k, at(c, k) + at(a, j))).substr(0, 7), "kernel:");  // k is unbound
  EXPECT_EQ(after(16, store(c, zero, at(c, zero) + at(a, j))),
            "C[0] = C[0] + reduce(+, A[ramp(0, 1, 16)])\n");
  EXPECT_EQ(after(16, store(c, zero, ir::max(at(a, j), at(c, zero)))),
            "C[0] = max(C[0], reduce(max, A[ramp(0, 1, 16)]))\n");
  EXPECT_EQ(after(16, store(c, zero, ir::fma(at(a, j), at(b, zero), at(c, zero)))),
            "C[0] = C[0] + reduce(+, A[ramp(0, 1, 16)] * x16(B[0]))\n");
}

TEST_F(Vectorize, ReductionsNeedThePermission) {
  const FloatPermissions strict = {.reassociate = false};
  EXPECT_EQ(after(4, store(c, zero, at(c, zero) + at(a, j)), strict),
            "unroll for j < 4:\n"
            "  C[0] = C[0] + A[j]\n");
  // The minimum of -0 and +0 is the first one.
  EXPECT_EQ(after(4, store(c, zero, ir::min(at(c, zero), at(a, j))), strict),
            "unroll for j < 4:\n"
            "  C[0] = min(C[0], A[j])\n");
  const auto s = kernel.argument("S", {4}, kI32), t = kernel.argument("T", {4}, kI32);
  EXPECT_EQ(after(4, store(s, zero, at(s, zero) + at(t, j)), strict),
            "S[0] = S[0] + reduce(+, T[ramp(0, 1, 4)])\n");
}

TEST_F(Vectorize, UnrollsDependentIterations) {
  struct Case {
    const char* why;
    ir::Stmt body;
    bool vectors;
  };
  const Expr x = at(a, zero);
  const Case cases[] = {
      {"the next iteration's element", store(c, j, at(c, j + 1)), false},
      {"the same element twice", store(c, j / 2, x), false},
      {"one element, no reduction", store(c, zero, at(a, j)), false},
      {"an accumulator that is read",
       ir::make_block({store(c, zero, at(c, zero) + at(a, j)), store(b, j, at(c, zero))}), false},
      {"the value reads the accumulator", store(c, zero, at(c, zero) + at(c, j)), false},
      {"other strides", store(c, j * 2, at(c, j)), false},
      {"rows that overlap", loop(k, 4, store(c, k * 7 + j, at(c, k * 7 + j) + x)), false},
      {"rows that do not", loop(k, 4, store(c, k * 8 + j, at(c, k * 8 + j) + x)), true},
      {"an element eight further", store(c, j, at(c, j + 8)), true},
      {"an extent by lane", ir::make_for(k, j + 1, ForKind::Serial, store(c, j, x)), false},
  };
  for (const Case& test : cases) {
    const std::string text = after(8, test.body);
    EXPECT_EQ(text.find("unroll for j < 8") == std::string::npos, test.vectors) << test.why << "\n"
                                                                                << text;
  }
  const ir::BufferId t = kernel.local("t", {4});
  const ir::Stmt with_buffer =
      ir::make_allocate(t, ir::make_block({store(t, zero, x), store(c, j, at(t, zero))}));
  EXPECT_EQ(after(8, with_buffer).substr(0, 16), "unroll for j < 8");
  EXPECT_EQ(after(65, store(c, j, at(c, j + 1))).substr(0, 10), "for j < 65");
}

TEST_F(Vectorize, QuotientsFromOutsideAreTheSameInAllLanes) {
  const auto vectors = [&](ir::Stmt body) { return after(8, std::move(body)).contains("ramp("); };
  const Expr quotient = k / 2 * 64 + k % 2 * 4;
  kernel.function.body =
      loop(k, 4, loop(j, 8, store(c, quotient + j * 8, at(a, j)), ForKind::Vectorized));
  EXPECT_EQ(kernel.after(vectorize),
            "for k < 4:\n"
            "  C[ramp(k / 2 * 64 + k % 2 * 4, 8, 8)] = A[ramp(0, 1, 8)]\n");
  EXPECT_FALSE(vectors(loop(k, 4, store(c, quotient + j * 8, at(a, j)))));
  const ir::BufferId n = kernel.argument("N", {8}, ir::kIndex);
  const Expr loaded = kernel.load(n, {zero}) * 4;
  EXPECT_FALSE(vectors(store(c, loaded + j * 8, at(a, j))));
}

TEST_F(Vectorize, OuterOfTwoIsUnrolled) {
  const Expr i = ir::var("i");
  const ir::Stmt inner = loop(i, 16, store(c, j * 16 + i, at(a, i)), ForKind::Vectorized);
  EXPECT_EQ(after(2, inner),
            "unroll for j < 2:\n"
            "  C[ramp(j * 16, 1, 16)] = A[ramp(0, 1, 16)]\n");
}

}  // namespace
}  // namespace tilewright::lower
