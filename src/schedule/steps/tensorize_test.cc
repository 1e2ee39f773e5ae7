#include "schedule/steps/tensorize.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

const std::string kBytes = "matmul:m=8,n=64,k=32,dtype=u8,dtype_b=i8,constant=B";
const std::string kFloats = "matmul:m=8,n=64,k=32,dtype=bf16,constant=B";
// Lanes and factors innermost, B in the order of the loops.
const std::string kTiled = "split C j [16]\nsplit C k [4]\nreorder C [i, j.0, k.0, j.1, k.1]\n";
const std::string kPacked = kTiled + "pack B C\n";
const std::string kStep = "tensorize C j.1 vnni_dot_u8i8";

TEST(Tensorize, Legal) {
  check_legal({
      {kBytes, kPacked, kStep, R"(
B: input packed for C
for i < 8
  for j.0 < 4
    for k.0 < 8
      vnni_dot_u8i8 for j.1 < 16
        for k.1 < 4
          C (8x64) <- A, B
)"},
      // The result of a product of bf16 is bf16: accumulators have a separate buffer.
      {kFloats, "split C j [16]\nsplit C k [2]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n",
       "tensorize C j.1 avx512_bf16_dot", R"(
B: input packed for C
for i < 8
  for j.0 < 4
    for k.0 < 16
      avx512_bf16_dot for j.1 < 16
        for k.1 < 2
          C (8x64) <- A, B
)"},
      // B has the layout of the intrinsic: four factors, then the next column.
      {"matmul:m=8,n=64,k=4,dtype=u8,dtype_b=i8,transpose_b=1", "split C j [16]\n", kStep, R"(
for i < 8
  for j.0 < 4
    vnni_dot_u8i8 for j.1 < 16
      for k < 4
        C (8x64) <- A, B
)"},
      // A tail of columns and one of the reduction.
      {"matmul:m=8,n=70,k=30,dtype=u8,dtype_b=i8,constant=B", kPacked, kStep, R"(
B: input packed for C
for i < 8
  for j.0 < 5
    for k.0 < 8
      vnni_dot_u8i8 for j.1 < 16 or fewer
        for k.1 < 4 or fewer
          C (8x70) <- A, B
)"},
      {kBytes,
       "cache_write C\nsplit C i [4]\nsplit C j [32]\nreorder C [i.0, j.0, i.1, j.1]\n"
       "compute_at C.write C j.0\nsplit C.write j [16]\nsplit C.write k [4]\n"
       "reorder C.write [k.0, i, j.0, j.1, k.1]\nannotate C.write i unroll\n"
       "annotate C.write j.0 unroll\ncache_read A [C.write]\ncompute_at A.read C j.0\n"
       "pack B C.write\n",
       "tensorize C.write j.1 vnni_dot_u8i8", R"(
B: input packed for C.write
for i.0 < 2
  for j.0 < 2
    for d0 < 4
      for d1 < 32
        A.read (4x32) <- A
    for k.0 < 8
      unroll for i < 4
        unroll for j.0 < 2
          vnni_dot_u8i8 for j.1 < 16
            for k.1 < 4
              C.write (4x32) <- A.read, B
    for i.1 < 4
      for j.1 < 32
        C (8x64) <- C.write
)"},
  });
}

TEST(Tensorize, Illegal) {
  const std::string f32 = "matmul:m=8,n=64,k=32,constant=B";
  check_illegal({
      {kBytes,
       kPacked,
       "tensorize C j.1 vnni",
       IllegalCode::NoSuchIntrinsic,
       {"vnni", "vnni_dot_u8i8, avx512_bf16_dot"}},
      {kBytes, kPacked, "tensorize C j vnni_dot_u8i8", IllegalCode::NoSuchLoop, {"j.0"}},
      {kBytes, kPacked, "tensorize B j vnni_dot_u8i8", IllegalCode::StageIsInput, {"B"}},
      {kBytes,
       kPacked,
       "tensorize C k.1 vnni_dot_u8i8",
       IllegalCode::IntrinsicLoops,
       {"k.1 is not the first", "i, j.0, k.0, j.1, k.1"}},
      {kBytes, kPacked, "tensorize C i vnni_dot_u8i8", IllegalCode::IntrinsicLoops, {"i"}},
      {kBytes,
       "split C j [16]\nsplit C k [4]\npack B C\nreorder C [k.0, k.1, i, j.0, j.1]\n",
       kStep,
       IllegalCode::IntrinsicLoops,
       {"k.0, k.1, i, j.0, j.1"}},
      {kBytes,
       "split C j [8]\nsplit C k [4]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n",
       kStep,
       IllegalCode::IntrinsicExtent,
       {"j.1 of C takes 8 values", "16", "split"}},
      {kBytes,
       "split C j [16]\nsplit C k [8]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n",
       kStep,
       IllegalCode::IntrinsicExtent,
       {"k.1 of C takes 8 values", "4"}},
      {f32,
       kPacked,
       kStep,
       IllegalCode::IntrinsicOperator,
       {"C does not compute", "a of u8, b of i8"}},
      {"matmul:m=8,n=64,k=32,dtype=i8,constant=B",
       kPacked,
       kStep,
       IllegalCode::IntrinsicOperator,
       {"a of u8, b of i8"}},
      {kBytes,
       "cache_write C\nsplit C j [16]\nreorder C [j.0, j.1, i]\n",
       "tensorize C j.1 vnni_dot_u8i8",
       IllegalCode::IntrinsicLoops,
       {"j.0, j.1, i"}},
      {kBytes,
       kTiled,
       kStep,
       IllegalCode::IntrinsicLayout,
       {"j.1 are 1 elements apart in B", "needs 4", "pack B", "for C"}},
      {"matmul:m=8,n=64,k=32,dtype=u8,dtype_b=i8,constant=B,transpose_a=1",
       kPacked,
       kStep,
       IllegalCode::IntrinsicLayout,
       {"k.1 are 8 elements apart in A", "needs 1", "pack A"}},
      // Both factors have one type: the one that the lanes share is A.
      {kFloats,
       "split C j [16]\nsplit C k [2]\nreorder C [i, j.0, k.0, j.1, k.1]\n",
       "tensorize C j.1 avx512_bf16_dot",
       IllegalCode::IntrinsicLayout,
       {"j.1 are 1 elements apart in B", "needs 2"}},
      {kBytes,
       "split C i [16]\nsplit C k [4]\nreorder C [j, i.0, k.0, i.1, k.1]\n",
       "tensorize C i.1 vnni_dot_u8i8",
       IllegalCode::IntrinsicExtent,
       {"8 values"}},
      {"matmul:m=64,n=8,k=32,dtype=u8,dtype_b=i8",
       "split C i [16]\nsplit C k [4]\nreorder C [j, i.0, k.0, i.1, k.1]\n",
       "tensorize C i.1 vnni_dot_u8i8",
       IllegalCode::IntrinsicLayout,
       {"i.1 are 8 elements apart in C", "last dimension"}},
      {kBytes,
       kPacked + "annotate C j.1 vectorize\n",
       kStep,
       IllegalCode::LoopIsAnnotated,
       {"j.1"}},
      {kBytes, kPacked + "annotate C k.1 unroll\n", kStep, IllegalCode::LoopIsAnnotated, {"k.1"}},
      {kBytes, kPacked + "prefetch C k.1 A 1\n", kStep, IllegalCode::LoopIsAnnotated, {"k.1"}},
      {kBytes,
       kPacked + "cache_read A [C]\ncompute_at A.read C j.1\n",
       kStep,
       IllegalCode::LoopIsAttachPoint,
       {"j.1"}},
      {kBytes,
       kPacked + "cache_read A [C]\ncompute_at A.read C k.1\n",
       kStep,
       IllegalCode::LoopIsAttachPoint,
       {"k.1"}},
      {kBytes, kPacked + kStep + "\n", kStep, IllegalCode::LoopIsAnnotated, {"j.1"}},
      {kBytes, kPacked + kStep + "\n", "split C j.1 [4]", IllegalCode::LoopIsAnnotated, {"j.1"}},
  });
}

// Later steps are checked against the intrinsic; the error names the tensorize step.
TEST(Tensorize, IllegalAfterwards) {
  const Workbench bench(kBytes);
  const std::string steps = kPacked + kStep + "\n";
  EXPECT_EQ(bench.refusal(steps + "reorder C [k.1, j.1]").code, IllegalCode::IntrinsicLoops);
  EXPECT_EQ(bench.refusal(steps + "split C k.1 [2]").code, IllegalCode::IntrinsicLoops);
  EXPECT_EQ(bench.refusal(steps + "annotate C j.1 unroll").code, IllegalCode::LoopIsAnnotated);
  EXPECT_EQ(bench.refusal(steps + "prefetch C j.1 A 1").code, IllegalCode::LoopIsAnnotated);
  EXPECT_EQ(bench.refusal(steps + "cache_read A [C]\ncompute_at A.read C k.1").code,
            IllegalCode::LoopIsAttachPoint);
  EXPECT_NE(bench.explanation(steps + "reorder C [k.1, j.1]").find("`tensorize C j.1"),
            std::string::npos);
}

TEST(Tensorize, RetilingIsChecked) {
  const Workbench bench(kBytes);
  LoopTree tree = bench.tree(kPacked + kStep);
  Trace trace = trace_of(kPacked + kStep);
  EXPECT_FALSE(retile(trace, &tree));
  std::get<Split>(trace.steps[0]).factors = {8};
  EXPECT_EQ(retile(trace, &tree).code, IllegalCode::IntrinsicExtent);
}

// An inlined operand has no buffer.
TEST(Tensorize, OperandsMustBeBuffers) {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {8, 32}, ir::Scalar::U8);
  const te::TensorId b = builder.placeholder("B", {64, 32}, ir::Scalar::I8);
  const te::Axis row = builder.axis("i", 8), column = builder.axis("k", 32);
  const te::TensorId a =
      builder.compute("A", {row, column}, builder.read(x, {row.var, column.var}));
  const te::Axis i = builder.axis("i", 8), j = builder.axis("j", 64), k = builder.axis("k", 32);
  const auto number = [&](te::TensorId tensor, const ir::Expr& outer) {
    return ir::cast(ir::Scalar::I32, builder.read(tensor, {outer, k.var}));
  };
  builder.reduce("C", {i, j}, {k}, ir::BinaryOp::Add, number(a, i.var) * number(b, j.var),
                 ir::Scalar::I32);
  const Workbench bench(std::move(builder).build());
  const std::string steps = kTiled + "cache_read B [C]\npack B.read C\n" + kStep + "\n";
  EXPECT_EQ(bench.refusal(steps).code, IllegalCode::None) << bench.explanation(steps);
  EXPECT_EQ(bench.refusal(steps + "compute_inline A").code, IllegalCode::IntrinsicOperand);
  EXPECT_NE(bench.explanation(steps + "compute_inline A").find("do not inline"), std::string::npos);
}

// A loop that runs through several tiles of a layout moves, if not evenly: an operand that lanes
// share cannot be indexed by it.
TEST(Tensorize, LoopOutsideItsTileIsNotInvariant) {
  te::DagBuilder builder;
  const te::TensorId a = builder.placeholder("A", {64, 8, 4}, ir::Scalar::U8);
  const te::TensorId b = builder.placeholder("B", {8, 64, 4}, ir::Scalar::I8);
  const auto number = [&](te::TensorId tensor, const std::vector<ir::Expr>& at) {
    return ir::cast(ir::Scalar::I32, builder.read(tensor, at));
  };
  const te::Axis column = builder.axis("j", 64), row = builder.axis("i", 8),
                 factor = builder.axis("k", 4);
  builder.reduce("D", {column, row}, {factor}, ir::BinaryOp::Add,
                 number(a, {column.var, row.var, factor.var}), ir::Scalar::I32);
  const te::Axis i = builder.axis("i", 8), j = builder.axis("j", 64), k = builder.axis("k", 4);
  builder.reduce("C", {i, j}, {k}, ir::BinaryOp::Add,
                 number(a, {j.var, i.var, k.var}) * number(b, {i.var, j.var, k.var}),
                 ir::Scalar::I32);
  const Workbench bench(std::move(builder).build());
  // A.read is in tiles of four columns, and lanes are sixteen.
  const std::string steps =
      "cache_read A [D, C]\nsplit D j [4]\nreorder D [j.0, i, j.1, k]\npack A.read D\n"
      "split C j [16]\ntensorize C j.1 vnni_dot_u8i8\n";
  EXPECT_EQ(bench.refusal(steps).code, IllegalCode::IntrinsicUneven) << bench.explanation(steps);
  EXPECT_NE(bench.explanation(steps).find("values of loop j.1 are in several tiles of the layout "
                                          "of A.read, at uneven distances, but vnni_dot_u8i8 "
                                          "needs 0; pack A.read"),
            std::string::npos)
      << bench.explanation(steps);
}

// A tile that fits a digit of a layout leaves it where it starts inside the digit.
TEST(Tensorize, TilesStartAtTheDigitsOfTheirOperands) {
  // C.write is in tiles of C, which are 24 columns wide: some of 16 columns are in two of them.
  const Workbench bench("matmul:m=8,n=96,k=32,dtype=u8,dtype_b=i8,constant=B");
  const auto steps = [](int columns) {
    return "cache_write C\nsplit C j [" + std::to_string(columns) +
           "]\nreorder C [j.0, i, j.1]\npack C.write C\nsplit C.write j [16]\n"
           "split C.write k [4]\nreorder C.write [i, j.0, k.0, j.1, k.1]\npack B C.write\n"
           "tensorize C.write j.1 vnni_dot_u8i8\n";
  };
  EXPECT_EQ(bench.refusal(steps(16)).code, IllegalCode::None) << bench.explanation(steps(16));
  EXPECT_EQ(bench.refusal(steps(48)).code, IllegalCode::None) << bench.explanation(steps(48));
  EXPECT_EQ(bench.refusal(steps(24)).code, IllegalCode::IntrinsicUneven);
  EXPECT_NE(
      bench.explanation(steps(24)).find("`tensorize C.write j.1 vnni_dot_u8i8`: values of loop "
                                        "j.1 are in several tiles of the layout of C.write"),
      std::string::npos)
      << bench.explanation(steps(24));
}

// A constant or a loop that moves the index by less than a tile.
TEST(Tensorize, TilesOfShiftedReadsAreUneven) {
  const auto refusal = [](int shift, int64_t step) {
    te::DagBuilder builder;
    const te::TensorId a = builder.placeholder("A", {8, 4}, ir::Scalar::U8);
    const te::TensorId b = builder.placeholder("B", {160, 2, 4}, ir::Scalar::I8);
    const auto number = [&](te::TensorId tensor, const std::vector<ir::Expr>& at) {
      return ir::cast(ir::Scalar::I32, builder.read(tensor, at));
    };
    const te::Axis x = builder.axis("x", 160), y = builder.axis("y", 2), z = builder.axis("z", 4);
    builder.compute("D", {x, y, z}, builder.read(b, {x.var, y.var, z.var}));
    const te::Axis i = builder.axis("i", 8), j = builder.axis("j", 64), s = builder.axis("s", 3),
                   k = builder.axis("k", 4);
    builder.reduce("C", {i, j}, {s, k}, ir::BinaryOp::Add,
                   number(a, {i.var, k.var}) *
                       number(b, {j.var + s.var * step + shift, ir::int_imm(1), k.var}),
                   ir::Scalar::I32);
    const Workbench bench(std::move(builder).build());
    return bench
        .refusal(
            "cache_read B [D, C]\nsplit D x [16]\nreorder D [x.0, y, x.1, z]\npack B.read D\n"
            "split C j [16]\nreorder C [i, j.0, s, j.1, k]\ntensorize C j.1 vnni_dot_u8i8\n")
        .code;
  };
  EXPECT_EQ(refusal(0, 16), IllegalCode::None);
  EXPECT_EQ(refusal(32, 16), IllegalCode::None);
  EXPECT_EQ(refusal(3, 16), IllegalCode::IntrinsicUneven);
  EXPECT_EQ(refusal(0, 1), IllegalCode::IntrinsicUneven);
  EXPECT_EQ(refusal(0, 32), IllegalCode::None);
}

TEST(Tensorize, FloatsNeedThePermission) {
  const Workload exact = *parse_workload(kFloats, {.reassociate = false});
  const LoopTree initial = *initial_tree(exact);
  LoopTree tree;
  const Trace trace = trace_of(
      "split C j [16]\nsplit C k [2]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n"
      "tensorize C j.1 avx512_bf16_dot");
  EXPECT_EQ(apply(initial, trace, &tree).code, IllegalCode::NeedsReassociate);
}

TEST(Tensorize, ChangesTheProgram) {
  const Workbench bench(kBytes);
  EXPECT_NE(bench.hash(kPacked), bench.hash(kPacked + kStep));
}

}  // namespace
}  // namespace tilewright::schedule::testing
