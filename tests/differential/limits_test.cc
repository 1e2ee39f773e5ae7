// The fixed sizes of a LoopTree are sufficient for GPU schedules of the largest operators: a 3-D
// convolution whose image and channels are blocked, in two levels of tiles.
#include <gtest/gtest.h>

#include <algorithm>

#include "back_end_check.h"
#include "program_check.h"
#include "schedule/apply.h"
#include "task/parse.h"
#include "te/dag_builder.h"
#include "te/ops/dimensions.h"

namespace tilewright::testing {
namespace {

// Y[n, c0, z0, y0, x0, z1, y1, x1, c1] += X[n, r0, z, y, x, r1] * W[c0, r0, rz, ry, rx, r1, c1]
// with z = z0 * 8 + z1 + rz, y = y0 + y1 + ry and x = x0 * 2 + x1 + rx.
std::shared_ptr<const te::Dag> blocked_conv3d() {
  using ir::Scalar;
  te::DagBuilder builder;
  const te::TensorId input = builder.placeholder("X", {1, 2, 71, 2, 3, 1}, Scalar::F32);
  const te::TensorId weight = builder.placeholder("W", {2, 2, 8, 1, 2, 1, 2}, Scalar::F32);
  const te::Axis n = builder.axis("n", 1), c0 = builder.axis("c0", 2);
  const te::Axis z0 = builder.axis("z0", 8), z1 = builder.axis("z1", 8);
  const te::Axis y0 = builder.axis("y0", 2), y1 = builder.axis("y1", 1);
  const te::Axis x0 = builder.axis("x0", 1), x1 = builder.axis("x1", 2);
  const te::Axis c1 = builder.axis("c1", 2);
  const te::Axis r0 = builder.axis("r0", 2), r1 = builder.axis("r1", 1);
  const te::Axis rz = builder.axis("rz", 8), ry = builder.axis("ry", 1);
  const te::Axis rx = builder.axis("rx", 2);
  const ir::Expr x =
      builder.read(input, {n.var, r0.var, z0.var * 8 + z1.var + rz.var, y0.var + y1.var + ry.var,
                           x0.var * 2 + x1.var + rx.var, r1.var});
  const ir::Expr w = builder.read(weight, {c0.var, r0.var, rz.var, ry.var, rx.var, r1.var, c1.var});
  builder.reduce("Y", {n, c0, z0, y0, x0, z1, y1, x1, c1}, {r0, rz, ry, rx, r1}, ir::BinaryOp::Add,
                 x * w, Scalar::F32);
  return std::move(builder).build();
}

constexpr std::string_view kTiles = R"(split Y n [1, 1]
split Y c0 [1, 2]
split Y z0 [2, 2]
split Y y0 [2, 1]
split Y x0 [1, 1]
split Y z1 [2, 2]
split Y y1 [1, 1]
split Y x1 [2]
split Y c1 [2]
split Y r0 [1, 2]
split Y rz [2, 2]
split Y ry [1, 1]
split Y rx [2]
split Y r1 [1]
reorder Y [n.0, c0.0, z0.0, y0.0, x0.0, z1.0, y1.0, x1.0, c1.0, n.1, c0.1, z0.1, y0.1, x0.1, z1.1, y1.1, r0.0, rz.0, ry.0, rx.0, r1.0, n.2, c0.2, z0.2, y0.2, r0.1, rz.1, ry.1, r0.2, rz.2, ry.2, rx.1, r1.1, x0.2, z1.2, y1.2, x1.1, c1.1]
annotate Y c0.0 parallel
annotate Y c1.1 vectorize
)";

size_t longest_form(const schedule::LoopTree& tree) {
  size_t longest = 0;
  for (const arith::Affine& form : tree.forms) longest = std::max(longest, form.terms.size());
  return longest;
}

TEST(Limits, BlockedConvolutionWithGpuTiles) {
  const Task task{.workload = make_workload(blocked_conv3d(), {}, "blocked conv3d"),
                  .target = parse_target("x86-64-v3;threads=2").value()};
  const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
  ASSERT_TRUE(initial) << initial.error().message;
  const schedule::Stage& fresh = initial->stages.back();
  EXPECT_EQ(fresh.dims.size(), 9u);
  EXPECT_EQ(fresh.axes.size(), 14u);

  const Result<schedule::Trace> trace = schedule::trace_from_text(kTiles);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(schedule::to_text(*trace), kTiles);
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, *trace);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->stages.back().loops.size(), 38u);
  // X is indexed by three parts each of z0, z1 and rz.
  EXPECT_EQ(longest_form(*tree), 9u);

  ProgramChecker checker(task, 1);
  const std::optional<Failure> failure = checker.check(*tree, *trace);
  EXPECT_FALSE(failure.has_value()) << failure->text;
  EXPECT_GT(checker.compared(), 0);
}

// Y[z0, z1] += X[z0 * 32 + z1 + rz] * W[rz]: with five parts of z0 and of z1 and three of rz, the
// index of X has one term per part. EveryIllegalCodeIsReachable of schedule/apply_test.cc has one
// term more.
std::shared_ptr<const te::Dag> blocked_conv1d() {
  using ir::Scalar;
  te::DagBuilder builder;
  const te::TensorId input = builder.placeholder("X", {32 * 32 + 7}, Scalar::F32);
  const te::TensorId weight = builder.placeholder("W", {8}, Scalar::F32);
  const te::Axis z0 = builder.axis("z0", 32), z1 = builder.axis("z1", 32);
  const te::Axis rz = builder.axis("rz", 8);
  const ir::Expr x = builder.read(input, {z0.var * 32 + z1.var + rz.var});
  builder.reduce("Y", {z0, z1}, {rz}, ir::BinaryOp::Add, x * builder.read(weight, {rz.var}),
                 Scalar::F32);
  return std::move(builder).build();
}

constexpr std::string_view kDeepTiles = R"(cache_read X [Y]
split Y z0 [2, 2, 2, 2]
split Y z1 [2, 2, 2, 2]
split Y rz [2, 2]
reorder Y [z0.0, z1.0, z0.1, z1.1, rz.0, z0.2, z1.2, rz.1, z0.3, z1.3, rz.2, z0.4, z1.4]
annotate Y z0.0 parallel
annotate Y z1.4 vectorize
)";

TEST(Limits, IndexWithTheMaximumNumberOfTerms) {
  const Task task{.workload = make_workload(blocked_conv1d(), {}, "blocked conv1d"),
                  .target = parse_target("x86-64-v3;threads=2").value()};
  const schedule::LoopTree initial = schedule::initial_tree(task.workload).value();
  ProgramChecker checker(task, 1);
  BackEndBatch batch(task.target);
  // The copy is indexed by all parts; attached, its region begins at a sum of the outer ones.
  for (const std::string place : {"", "compute_at X.read Y rz.0\n"}) {
    const schedule::Trace trace =
        schedule::trace_from_text(std::string(kDeepTiles) + place).value();
    const Result<schedule::LoopTree> tree = schedule::apply_or_explain(initial, trace);
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(longest_form(*tree), arith::Affine::kMaxTerms);
    Interpreted interpreted;
    const std::optional<Failure> failure =
        checker.check(*tree, trace, {.interpreted = &interpreted});
    ASSERT_FALSE(failure.has_value()) << failure->text;
    batch.add(task.workload, std::move(interpreted));
  }
  EXPECT_GT(checker.compared(), 0);
  const std::optional<BatchFailure> failure = batch.check();
  EXPECT_FALSE(failure.has_value()) << failure->text;
}

// Schedules handle operators of any rank.
TEST(Limits, OperatorsOfMaximumRank) {
  static_assert(te::kMaxDimensions == schedule::kMaxRank);
  for (const char* text : {"elementwise:shape=2x1x2x1x3x1x2x1x2x5,chain=relu",
                           "reduce:op=sum,shape=2x1x2x3x1x1x2x1x2x5,axes=3x9"}) {
    const Task task{.workload = parse_workload(text).value(),
                    .target = parse_target("x86-64-v3;threads=2").value()};
    const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
    ASSERT_TRUE(initial) << text << ": " << initial.error().message;
    const Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, {});
    ASSERT_TRUE(tree) << text << ": " << tree.error().message;
    ProgramChecker checker(task, 1);
    const std::optional<Failure> failure = checker.check(*tree, {});
    EXPECT_FALSE(failure.has_value()) << text << ": " << failure->text;
  }
}

}  // namespace
}  // namespace tilewright::testing
