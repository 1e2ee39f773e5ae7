#include "schedule/apply.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"
#include "schedule/explain.h"
#include "schedule/program_hash.h"
#include "schedule/testing.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

// Numbers of both trees, field by field.
void expect_same(const LoopTree& a, const LoopTree& b) {
  EXPECT_EQ(a.to_string(), b.to_string());
  EXPECT_EQ(program_hash(a), program_hash(b));
  ASSERT_EQ(a.vars.size(), b.vars.size());
  for (size_t k = 0; k < a.vars.size(); ++k) {
    const LoopVar &x = a.vars[k], &y = b.vars[k];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.extent, y.extent) << x.name.text();
    EXPECT_EQ(x.stride, y.stride) << x.name.text();
    EXPECT_EQ(x.divisor, y.divisor) << x.name.text();
    EXPECT_EQ(x.remainder, y.remainder) << x.name.text();
    EXPECT_EQ(x.ragged, y.ragged) << x.name.text();
    EXPECT_EQ(x.rest, y.rest);
    EXPECT_EQ(x.resolved, y.resolved);
  }
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (size_t k = 0; k < a.stages.size(); ++k) {
    EXPECT_EQ(a.stages[k].origin, b.stages[k].origin) << a.stages[k].name.text();
  }
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t k = 0; k < a.buffers.size(); ++k) {
    EXPECT_EQ(a.buffers[k].extent, b.buffers[k].extent);
  }
  EXPECT_EQ(a.forms, b.forms);
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (size_t k = 0; k < a.regions.size(); ++k) {
    EXPECT_EQ(regions_text(a, std::span(&a.regions[k], 1)),
              regions_text(b, std::span(&b.regions[k], 1)));
  }
}

struct Tiled {
  std::string workload, steps;
};
const std::vector<Tiled> kTiled = {
    {"matmul:m=24,n=36,k=12,constant=B",
     "split C i [2, 4]\nsplit C j [3, 6]\nsplit C k [4]\n"
     "reorder C [i.0, j.0, k.0, i.1, j.1, k.1, i.2, j.2]\npack B C\nfuse C [i.0, j.0]\n"
     "annotate C (i.0,j.0) parallel\nannotate C j.2 vectorize\n"},
    {"matmul:m=24,n=36,k=12",
     "cache_write C\nsplit C i [6]\nsplit C j [12]\nreorder C [i.0, j.0, i.1, j.1]\n"
     "compute_at C.write C j.0\nsplit C.write i [2]\nsplit C.write k [3]\n"
     "reorder C.write [k.0, i.0, k.1, i.1, j]\ncache_read A [C.write]\n"
     "compute_at A.read C.write k.0\nsplit A.read d1 [2]\n"},
    {"conv2d:h=13,w=11,ci=4,co=6,kernel=3,pad=1,stride=2",
     "split Y y [3]\nsplit Y x [2]\nreorder Y [y.0, x.0, y.1, x.1]\ncompute_at P Y x.0\n"
     "split P y [2]\nsplit Y rc [2]\n"},
    {"conv2d:h=13,w=11,ci=4,co=6,kernel=3,pad=1",
     "compute_inline P\nsplit Y c [2]\nsplit Y x [4]\n"},
    {"softmax:m=9,n=20",
     "split Y i [3]\ncompute_at R Y i.0\ncompute_at S Y i.0\ncompute_at E Y i.0\n"
     "compute_at M Y i.0\nsplit E j [4]\nsplit S k [5]\n"},
    {"matmul:m=6,n=8,k=32",
     "split C k [8]\nrfactor C k.0\nsplit C.rfactor k.1 [2]\nsplit C k.0 [2]\n"},
};

// Other factors for every split: dividing ones, others, and ones that are too large.
void change_factors(Trace* trace, Rng& rng) {
  for (Step& step : trace->steps) {
    auto* split = std::get_if<Split>(&step);
    if (split == nullptr) continue;
    for (int64_t& factor : split->factors) factor = rng.between(rng.chance(0.02) ? 0 : 1, 13);
  }
}

TEST(Apply, RetileEqualsApplyFromScratch) {
  Rng rng(9);
  int legal = 0;
  for (int round = 0; round < 600; ++round) {
    const Tiled& tiled = kTiled[static_cast<size_t>(round) % kTiled.size()];
    const Workbench bench(tiled.workload);
    Trace trace = trace_of(tiled.steps);
    LoopTree tree;
    const Illegal first = apply(bench.initial(), trace, &tree);
    ASSERT_FALSE(first) << explain(bench.initial(), trace, first);
    for (int again = 0; again < 3; ++again) {  // also after a refusal
      change_factors(&trace, rng);
      SCOPED_TRACE(tiled.workload + "\n" + to_text(trace));
      LoopTree scratch;
      const Illegal expected = apply(bench.initial(), trace, &scratch);
      const Illegal illegal = retile(trace, &tree);
      ASSERT_EQ(illegal, expected);
      if (illegal) continue;
      ++legal;
      expect_same(tree, scratch);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(legal, 400);
}

// A trace of another structure is a mistake of the caller's.
TEST(Apply, RetileRequiresTheSameSteps) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  LoopTree tree = bench.tree("split C i [2]");
  EXPECT_THROW(static_cast<void>(retile(trace_of("split C i [2, 2]"), &tree)), InternalError);
  EXPECT_THROW(static_cast<void>(retile(trace_of("compute_root C"), &tree)), InternalError);
}

// A factor of zero is rejected before any division by it.
TEST(Apply, RejectsBadFactorsOfRfactor) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  LoopTree tree = bench.tree("split C k [2]\nrfactor C k.0");
  const Trace bad = trace_of("split C k [0]\nrfactor C k.0");
  EXPECT_EQ(retile(bad, &tree).code, IllegalCode::BadFactor);
  EXPECT_EQ(apply(bench.initial(), bad, &tree).code, IllegalCode::BadFactor);
}

// Reusing the tree of another program gives the same result as a new tree.
TEST(Apply, ReusesTheMemoryOfATree) {
  LoopTree reused;
  for (const Tiled& tiled : kTiled) {
    const Workbench bench(tiled.workload);
    LoopTree fresh;
    ASSERT_FALSE(apply(bench.initial(), trace_of(tiled.steps), &fresh)) << tiled.steps;
    ASSERT_FALSE(apply(bench.initial(), trace_of(tiled.steps), &reused));
    expect_same(reused, fresh);
  }
}

TEST(Apply, OrExplains) {
  const Workbench bench("matmul:m=4,n=4,k=4");
  EXPECT_TRUE(apply_or_explain(bench.initial(), trace_of("split C i [2]")));
  const auto tree = apply_or_explain(bench.initial(), trace_of("split C x [2]"));
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::Illegal);
  EXPECT_EQ(tree.error().message,
            "illegal step 1 `split C x [2]`: C has no loop x; its loops are i, j, k");
}

TEST(InitialTree, RejectsDagsBeyondItsLimits) {
  const auto message = [](te::DagBuilder& builder) {
    const auto tree = initial_tree(make_workload(std::move(builder).build(), {}, "test"));
    return tree ? std::string() : tree.error().message;
  };
  const auto build = [](te::DagBuilder& builder, size_t axes, size_t reduce_axes,
                        const te::Extent& extent) {
    std::vector<te::Axis> spatial, reduce;
    std::vector<ir::Expr> indices;
    for (size_t k = 0; k < axes; ++k)
      spatial.push_back(builder.axis(fmt::format("a{}", k), extent));
    for (size_t k = 0; k < reduce_axes; ++k)
      reduce.push_back(builder.axis(fmt::format("r{}", k), 2));
    const te::TensorId x = builder.placeholder("X", {64}, ir::Scalar::F32);
    const ir::Expr value = builder.read(x, {spatial[0].var});
    if (reduce.empty()) {
      builder.compute("Y", spatial, value);
    } else {
      builder.reduce("Y", spatial, reduce, ir::BinaryOp::Add, value, ir::Scalar::F32);
    }
  };
  te::DagBuilder fits, rank, axes, symbol;
  build(fits, 10, 6, 2);
  EXPECT_EQ(message(fits), "");
  build(rank, 11, 0, 2);
  EXPECT_EQ(message(rank), "tensor Y has 11 dimensions; a schedule takes up to 10");
  build(axes, 10, 7, 2);
  EXPECT_EQ(message(axes), "operator Y has 17 axes; a schedule takes up to 16");
  build(symbol, 1, 0, te::Extent::named(Name("batch"), 1, 64));
  EXPECT_EQ(message(symbol), "axis a0 of Y has the symbolic extent batch; schedules need numbers");
}

// Y_k[i] = Y_{k-1}[i] + Y_{k-1}[i + 1]: each stage that is inlined doubles the reads of the last.
std::shared_ptr<const te::Dag> doubling_chain(int links) {
  te::DagBuilder builder;
  te::TensorId last = builder.placeholder("T0", {64}, ir::Scalar::F32);
  for (int k = 1; k <= links; ++k) {
    const te::Axis i = builder.axis("i", 64 - k);
    last = builder.compute(fmt::format("T{}", k), {i},
                           builder.read(last, {i.var}) + builder.read(last, {i.var + 1}));
  }
  return std::move(builder).build();
}

struct CodeCase {
  IllegalCode code;
  std::string workload, steps;
};

std::vector<CodeCase> code_cases() {
  const std::string matmul = "matmul:m=8,n=8,k=8,constant=B";
  const std::string chain = "elementwise:shape=8x8,chain=relu+exp+neg";
  const std::string softmax = "softmax:m=8,n=8";
  const std::string ones = "[1, 1, 1, 1, 1, 1, 1]\n";
  const std::string loops = "split C i " + ones + "split C j " + ones + "split C k " + ones +
                            "split C i.0 " + ones + "split C j.0 " + ones + "split C k.0 " + ones +
                            "split C i.1 [1, 1, 1, 1]\n";
  const std::string terms =
      "split C i [2, 2, 2, 2, 2, 2, 2]\nsplit C i.0 [2, 2, 2, 2, 2]\nsplit C i.0.0 [2]\n";
  return {
      {IllegalCode::NoSuchStage, matmul, "compute_root Q"},
      {IllegalCode::NoSuchLoop, matmul, "split C q [2]"},
      {IllegalCode::StageExists, matmul, "cache_read A [C]\ncache_read A [C]"},
      {IllegalCode::BadOrdinal, matmul, "cache_read A [C] ordinal=256"},
      {IllegalCode::StageIsInput, matmul, "split A i [2]"},
      {IllegalCode::StageIsInlined, chain, "compute_inline T1\ncompute_root T1"},
      {IllegalCode::StageIsOutput, chain, "compute_inline Y"},
      {IllegalCode::StageHasReduction, softmax, "compute_inline S"},
      {IllegalCode::StageHasNoReduction, softmax, "rfactor E j"},
      {IllegalCode::StageHasSteps, matmul, "split C i [2]\ncache_write C"},
      {IllegalCode::LoopIsAnnotated, matmul, "annotate C i unroll\nsplit C i [2]"},
      {IllegalCode::LoopIsAttachPoint, matmul,
       "cache_read A [C]\ncompute_at A.read C i\nsplit C i [2]"},
      {IllegalCode::LoopIsSpatial, matmul, "rfactor C i"},
      {IllegalCode::BadFactor, matmul, "split C i [0]"},
      {IllegalCode::TooManyLoops, matmul, loops},
      {IllegalCode::TooManyTerms, "matmul:m=16384,n=8,k=8", terms},
      {IllegalCode::LoopNamedTwice, matmul, "reorder C [i, i]"},
      {IllegalCode::NotAdjacent, matmul, "fuse C [i, k]"},
      {IllegalCode::MixedKinds, matmul, "fuse C [j, k]"},
      {IllegalCode::TargetIsSelf, chain, "compute_at T1 T1 i"},
      {IllegalCode::ReaderOutside, softmax, "compute_at E S i"},
      {IllegalCode::InsideFold, matmul, "rfactor C k\ncompute_at C.rfactor C k"},
      {IllegalCode::AlreadyCached, matmul, "cache_write C\ncache_write C"},
      {IllegalCode::NothingReads, matmul, "cache_read A []"},
      {IllegalCode::NotAReader, softmax, "cache_read X [Y]"},
      {IllegalCode::NestedParallel, matmul, "annotate C i parallel\nannotate C j parallel"},
      {IllegalCode::ParallelReduce, matmul, "annotate C k parallel"},
      {IllegalCode::VectorizeNotInnermost, matmul, "annotate C i vectorize"},
      {IllegalCode::TwoVectorized, matmul, "annotate C j vectorize\nannotate C k vectorize"},
      {IllegalCode::PartlyFused, matmul,
       "cache_read A [C]\nfuse C [i, j]\nsplit C (i,j) [4]\ncompute_at A.read C (i,j).0"},
      {IllegalCode::TailOrder, matmul, "split C i [3]\nreorder C [i.1, i.0]"},
      {IllegalCode::OverlapReduce, matmul, "split C i [3] tail=overlap\nreorder C [k, i.0, i.1]"},
      {IllegalCode::OverlapParallel, matmul, "split C i [3] tail=overlap\nannotate C i.0 parallel"},
      {IllegalCode::PadOutput, matmul, "split C i [3] tail=pad"},
      {IllegalCode::PadInner, matmul,
       "cache_write C\nsplit C.write i [4]\nsplit C.write i.1 [3] tail=pad"},
      {IllegalCode::NoSuchSplit, matmul, "follow_split C i C j 2"},
      {IllegalCode::BadParts, matmul, "split C j [2]\nfollow_split C i C j 3"},
      {IllegalCode::BadLevel, matmul, "split C j [2]\nfollow_fused_split C i C [j] 1"},
      {IllegalCode::BadDistance, matmul, "prefetch C i A 0"},
      {IllegalCode::PrefetchUncomputed, matmul,
       "cache_read A [C]\nprefetch C i A.read 1\ncompute_at A.read C j"},
      {IllegalCode::BoundTwice, matmul, "bind C i block_x\nbind C j block_x"},
      {IllegalCode::PackInput, matmul, "pack A C"},
      {IllegalCode::PackOutput, matmul, "pack C C"},
      {IllegalCode::PackIndex, "conv2d:h=8,w=8,ci=2,co=2,kernel=3,pad=1", "pack P Y"},
      {IllegalCode::AlreadyPacked, matmul, "pack B C\npack B C"},
      {IllegalCode::NoSuchIntrinsic, matmul, "tensorize C j dot"},
      {IllegalCode::IntrinsicLoops, matmul, "tensorize C i vnni_dot_u8i8"},
      {IllegalCode::IntrinsicExtent, matmul, "tensorize C j vnni_dot_u8i8"},
      {IllegalCode::IntrinsicOperator, "matmul:m=8,n=16,k=4", "tensorize C j vnni_dot_u8i8"},
      {IllegalCode::IntrinsicLayout, "matmul:m=8,n=16,k=4,dtype=u8,dtype_b=i8",
       "tensorize C j vnni_dot_u8i8"},
      {IllegalCode::ScopeAtRoot, matmul, "cache_read A [C] scope=shared"},
      {IllegalCode::ScopeTooNarrow, matmul,
       "cache_read A [C]\ncompute_at A.read C i\nbind A.read d0 thread_x"},
      {IllegalCode::BlockInThread, matmul, "bind C i thread_x\nbind C j block_x"},
  };
}

// Each code occurs: those of the table, and those that need a Dag made for them.
TEST(Apply, EveryIllegalCodeIsReachable) {
  std::set<IllegalCode> seen = {IllegalCode::None};
  for (const CodeCase& c : code_cases()) {
    const Workbench bench(c.workload);
    EXPECT_EQ(static_cast<int>(bench.refusal(c.steps).code), static_cast<int>(c.code))
        << c.workload << '\n'
        << c.steps << '\n'
        << bench.explanation(c.steps);
    const bool of_a_step = c.code != IllegalCode::TooManyTerms;  // of all splits together
    EXPECT_TRUE(
        bench.explanation(c.steps).starts_with(of_a_step ? "illegal step" : "illegal schedule"))
        << bench.explanation(c.steps);
    seen.insert(c.code);
  }

  const Workbench doubling(doubling_chain(20));
  std::string inline_all;
  for (int k = 1; k < 20; ++k) inline_all += fmt::format("compute_inline T{}\n", k);
  EXPECT_EQ(doubling.refusal(inline_all).code, IllegalCode::TooManyReads);
  EXPECT_NE(doubling.explanation(inline_all).find("inline less"), std::string::npos);
  seen.insert(IllegalCode::TooManyReads);
  EXPECT_EQ(doubling.refusal("cache_read T1 [T2]\npack T1.read T2").code, IllegalCode::ReadsTwice);
  seen.insert(IllegalCode::ReadsTwice);

  const Workbench full(doubling_chain(60));
  std::string stages;
  for (int k = 1; k <= 60; ++k) {
    stages += fmt::format("cache_write T{}\n", k);
    stages += fmt::format("cache_read T{} [T{}.write]\n", k - 1, k);
    if (k > 1) stages += fmt::format("cache_read T{}.write [T{}] ordinal=1\n", k, k);
  }
  for (int k = 1; k < 60; ++k) stages += fmt::format("cache_read T{} [T{}.read] ordinal=2\n", k, k);
  EXPECT_EQ(full.refusal(stages).code, IllegalCode::TooManyStages);
  EXPECT_NE(full.explanation(stages).find("more than 255 stages"), std::string::npos)
      << full.explanation(stages);
  seen.insert(IllegalCode::TooManyStages);

  // Those of schedule/steps/compute_at_test.cc, rfactor_test.cc, tensorize_test.cc and of
  // loop_tree_test.cc.
  seen.insert({IllegalCode::MultipleOutputs, IllegalCode::RankTooHigh, IllegalCode::PackTiles,
               IllegalCode::NeedsReassociate, IllegalCode::CodeTooLarge,
               IllegalCode::IntrinsicOperand, IllegalCode::IntrinsicUneven});

  for (int k = 0; k <= static_cast<int>(IllegalCode::BlockInThread); ++k) {
    EXPECT_TRUE(seen.contains(static_cast<IllegalCode>(k))) << "no case for code " << k;
  }
}

TEST(Apply, SumsKeepTheirOrderWithoutReassociation) {
  const Workload exact = *parse_workload("matmul:m=4,n=4,k=64", {.reassociate = false});
  const LoopTree initial = *initial_tree(exact);
  const auto code = [&](std::string_view text) {
    LoopTree tree;
    return apply(initial, *trace_from_text(text), &tree).code;
  };
  EXPECT_EQ(code("split C k [8]\nreorder C [k.0, k.1, i, j]"), IllegalCode::None);
  EXPECT_EQ(code("cache_write C\nsplit C.write k [4, 4]"), IllegalCode::None);
  EXPECT_EQ(code("split C k [8]\nreorder C [k.1, k.0]"), IllegalCode::NeedsReassociate);
  EXPECT_EQ(code("split C k [8]\nrfactor C k.1"), IllegalCode::NeedsReassociate);
  const Workload integers =
      *parse_workload("matmul:m=4,n=4,k=64,dtype=i32", {.reassociate = false});
  const LoopTree of_integers = *initial_tree(integers);
  LoopTree tree;
  const Trace swapped = *trace_from_text("split C k [8]\nreorder C [k.1, k.0]");
  EXPECT_FALSE(apply(of_integers, swapped, &tree));
}

// A blocked operand is not a part of a larger array: it is rejected, never read as row-major.
TEST(Apply, OperandsAreRowMajorOrPartsOfLargerArrays) {
  Workload workload = *parse_workload("matmul:m=4,n=8,k=6,constant=B");
  EXPECT_TRUE(initial_tree(workload));
  for (const size_t operand : {size_t{0}, size_t{2}}) {
    Workload blocked = workload;
    const std::vector<int64_t> shape = {4, operand == 0 ? 6 : 8};
    blocked.operands[operand].layout = layout::Layout::blocked(shape, 1, 2);
    const Result<LoopTree> tree = initial_tree(blocked);
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().kind, ErrorKind::Unsupported);
    EXPECT_EQ(tree.error().message,
              operand == 0 ? "operand A has the layout [d1/2:3, d0:4, d1%2:2]; schedules take "
                             "row-major operands, and constants whose layout is free"
                           : "operand C has the layout [d1/2:4, d0:4, d1%2:2]; schedules take "
                             "row-major operands, and constants whose layout is free");
  }
  ASSERT_TRUE(set_part(workload, {.tensor = "C", .extents = {4, 20}, .alignment = 64}));
  const Result<LoopTree> tree = initial_tree(workload);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(layout_of(*tree, 2).to_string(), "[d0:4, d1:20]");
}

// However Operand::within was set, elements of a part neither overlap nor are outside.
TEST(Apply, PartsOfLargerArraysAreChecked) {
  const Workload workload = *parse_workload("matmul:m=4,n=8,k=6,constant=B");
  const auto error_with = [&](size_t operand, std::vector<int64_t> within) -> std::string {
    Workload changed = workload;
    changed.operands[operand].within = std::move(within);
    const Result<LoopTree> tree = initial_tree(changed);
    return tree ? "it was taken" : tree.error().message;
  };
  EXPECT_EQ(error_with(2, {4, 20}), "it was taken");
  EXPECT_EQ(error_with(2, {4, 8}), "it was taken");
  EXPECT_EQ(error_with(2, {4, 4}), "C of 4x8 is not a part of 4x4");
  EXPECT_EQ(error_with(2, {4}), "C of 4x8 is not a part of 4");
  EXPECT_EQ(error_with(2, {2, 3, 5}), "C of 4x8 is not a part of 2x3x5");
  EXPECT_EQ(error_with(2, {0, 0}), "C of 4x8 is not a part of 0x0");
  EXPECT_EQ(error_with(2, {4, int64_t{1} << 50}), "C of 4x8 is not a part of 4x1125899906842624");
  EXPECT_EQ(error_with(1, {6, 8}), "B is not an input or output: it cannot be a part");
  // A part that covers its whole array is the same program.
  Workload whole = workload;
  whole.operands[2].within = {4, 8};
  EXPECT_EQ(program_hash(*initial_tree(whole)), program_hash(*initial_tree(workload)));
  // Only a constant may have an undecided layout.
  Workload open = workload;
  open.operands[0].layout = layout::Layout::undecided();
  EXPECT_EQ(initial_tree(open).error().message,
            "operand A has the layout free; schedules take row-major operands, and constants whose "
            "layout is free");
}

}  // namespace
}  // namespace tilewright::schedule::testing
