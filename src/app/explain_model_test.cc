#include "app/explain_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "app/compile.h"
#include "app/model_choice.h"
#include "app/small_model_testing.h"
#include "app/tune.h"
#include "record/record_testing.h"
#include "runtime/host/model_library.h"

namespace tilewright::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum Remedy;

// A tuned kernel at half of its limit, 1 ms.
ExplainedKernel kernel_at_half() {
  ExplainedKernel kernel;
  kernel.loss = {.calls = 2, .ns = 4e6, .limit = {.ns = 1e6, .what = "L2"}};
  kernel.tuned_ns = 2e6;
  kernel.records = {.trials = 500, .attempt = Hash128{1, 2}, .limits = {"It has gaps."}};
  return kernel;
}

TEST(Remedies, DependOnWhatIsKnown) {
  ExplainedKernel kernel = kernel_at_half();
  EXPECT_THAT(remedies_of(kernel, {}), ElementsAre(Loops));
  EXPECT_THAT(remedies_of(kernel, {.elementwise = true}), ElementsAre(Fuse, Loops));
  kernel.records.trials = 199;
  EXPECT_THAT(remedies_of(kernel, {}), ElementsAre(TuneLonger, Loops));
  kernel.tuned_ns = 1.5e6;
  EXPECT_THAT(remedies_of(kernel, {}), ElementsAre(SlowerThanTuned, TuneLonger, Loops));
  EXPECT_THAT(remedies_of(kernel, {.as_tuned = false}), ElementsAre(TuneLonger, Loops));
  kernel.records = {};
  EXPECT_THAT(remedies_of(kernel, {.as_tuned = false}), ElementsAre(NothingKnown));
  kernel.tuned_ns = 0;
  EXPECT_THAT(remedies_of(kernel, {}), ElementsAre(Tune));
  kernel.records.trials = 30;
  EXPECT_THAT(remedies_of(kernel, {}), ElementsAre(Compile));
}

TEST(Remedies, AreFewAtTheLimit) {
  ExplainedKernel kernel = kernel_at_half();
  kernel.loss.ns = 2.2e6;
  EXPECT_THAT(remedies_of(kernel, {.elementwise = true}), ElementsAre(FewerBytes));
  kernel.loss.limit.what = kFmaLimit;
  EXPECT_THAT(remedies_of(kernel, {.elementwise = true}), ElementsAre(FewerFlop));
}

// Below 1 us no threads were started; from 10 us on it does not matter.
TEST(Remedies, FewerThreadsForShortCalls) {
  ExplainedKernel kernel = kernel_at_half();
  const auto with_call = [&](double ns, int threads) {
    kernel.loss.ns = static_cast<double>(kernel.loss.calls) * ns;
    kernel.loss.limit.ns = ns / 2;
    kernel.tuned_ns = ns;
    return remedies_of(kernel, {.threads = threads});
  };
  EXPECT_THAT(with_call(900, 4), ElementsAre(Loops));
  EXPECT_THAT(with_call(9'000, 4), ElementsAre(FewerThreads, Loops));
  EXPECT_THAT(with_call(9'000, 1), ElementsAre(Loops));
  EXPECT_THAT(with_call(11'000, 4), ElementsAre(Loops));
}

void compile_small(const SmallModel& small) {
  CompileListener silent;
  const auto compiled = compile({.model = {.what = small.model_file()},
                                 .target = {.target = {}, .threads = 1},
                                 .records = small.records(),
                                 .output = small / "small.so"},
                                silent, {});
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
}

// As if each of the two steps took a second, at 100 GFLOP/s and 10 GB/s.
ExplainedModel explain_slow(const SmallModel& small, const std::string& records,
                            size_t count = 10) {
  const auto library = runtime::ModelLibrary::open(small / "small.so");
  CHECK(library.has_value(), "{}", library.error().message);
  MeasuredModel slow{.run_ns = 2.5e9,
                     .steps_ns = {1e9, 1e9},
                     .rates = {.gflops = 100,
                               .levels = {{.name = "memory",
                                           .holds_bytes = std::numeric_limits<int64_t>::max(),
                                           .read_gb_per_s = 10,
                                           .copy_gb_per_s = 10}}}};
  auto explained = explain_measured(library->api(), slow, records, count);
  CHECK(explained.has_value(), "{}", explained.error().message);
  return *std::move(explained);
}

// Two products of one task, whose kernel is called twice: 68 KFLOP and 12 KiB each.
TEST(ExplainMeasured, ComparesTheKernelsWithTheirLimits) {
  const SmallModel small;
  compile_small(small);
  const ExplainedModel model = explain_slow(small, kNoRecords);
  EXPECT_EQ(model.name, "small");
  EXPECT_EQ(model.kernel_count, 1U);
  EXPECT_EQ(model.kernels_ns, 2e9);
  EXPECT_DOUBLE_EQ(model.limit_ns, 2 * 1228.8);
  EXPECT_DOUBLE_EQ(model.lost_ns, 2e9 - 2 * 1228.8);
  EXPECT_EQ(model.beyond, 0U);
  ASSERT_EQ(model.kernels.size(), 1U);
  const ExplainedKernel& kernel = model.kernels[0];
  EXPECT_DOUBLE_EQ(model.listed_ns(), model.lost_ns);
  EXPECT_DOUBLE_EQ(model.of_limit(), model.limit_ns / 2.5e9);
  EXPECT_EQ(model.share_of(kernel), 1);
  EXPECT_EQ(kernel.loss.call_ns(), 1e9);
  EXPECT_EQ(kernel.slowdown(), 0);
  EXPECT_THAT(kernel.loss.title, HasSubstr("matmul"));
  EXPECT_EQ(kernel.loss.calls, 2U);
  EXPECT_EQ(kernel.loss.limit.what, "memory");
  EXPECT_EQ(kernel.tuned_ns, 0);
  EXPECT_EQ(kernel.records.trials, 0U);
  EXPECT_THAT(kernel.remedies, ElementsAre(Tune));

  const ExplainedModel none = explain_slow(small, kNoRecords, 0);
  EXPECT_TRUE(none.kernels.empty());
  EXPECT_EQ(none.kernel_count, 1U);
}

// The hash in the library is that of the records: first the untuned library finds the trials of its
// task, then the tuned one also its program.
TEST(ExplainMeasured, FindsItsRecords) {
  const SmallModel small;
  compile_small(small);
  TuneListener silent;
  const auto tuned = tune({.what = {small.model_file()},
                           .target = {.target = {}, .threads = 1},
                           .records = small.records(),
                           .workers = kWorkers,
                           .trials = 8,
                           .model_finals = false},
                          silent, {});
  ASSERT_TRUE(tuned.has_value()) << tuned.error().message;
  const ExplainedModel before = explain_slow(small, small.records());
  ASSERT_EQ(before.kernels.size(), 1U);
  EXPECT_EQ(before.kernels[0].tuned_ns, 0);
  EXPECT_GE(before.kernels[0].records.trials, 8U);
  EXPECT_EQ(before.kernels[0].remedies.front(), Compile);

  compile_small(small);
  const ExplainedModel after = explain_slow(small, small.records());
  ASSERT_EQ(after.kernels.size(), 1U);
  const ExplainedKernel& kernel = after.kernels[0];
  EXPECT_GT(kernel.tuned_ns, 0);
  EXPECT_TRUE(kernel.records.attempt.has_value());
  EXPECT_FALSE(kernel.records.limits.empty());
  EXPECT_THAT(kernel.remedies, ElementsAre(SlowerThanTuned, TuneLonger, Loops));
}

// A copy of the attempt that the kernel has, faster by another back end or another protocol.
TEST(ExplainMeasured, RecordIsOfItsBackEndAndMostLikeAModel) {
  const SmallModel small;
  compile_small(small);
  const auto library = runtime::ModelLibrary::open(small / "small.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const TilewrightTableFacts& facts = library->api().table->facts[0];
  const Target target = host_target(1);
  const deploy::ModelPlan plan = plan_of_model({.what = small.model_file()}, target).value();
  const graph::Partition::Kernel& kernel = plan.partition.kernels.front();
  const Task task{.workload = plan.partition.groups[kernel.groups.front()].workload,
                  .target = target};
  ASSERT_EQ(task.key(), (Hash128{facts.task[0], facts.task[1]}));
  record::Store store = record::testing::store_with(small.records(), task);
  const auto put = [&](double latency_ns, const record::Protocol& protocol) {
    record::Attempt attempt = record::testing::timed(task, 1, latency_ns);
    attempt.program = {facts.program[0], facts.program[1]};
    attempt.protocol = protocol;
    const Status status = store.append({&attempt, 1});
    EXPECT_TRUE(status.has_value());
    return attempt.id();
  };
  const auto found = [&] { return explain_slow(small, small.records()).kernels.front().records; };
  put(100, {.cache = record::CachePolicy::WeightsCold, .back_end = "c"});
  EXPECT_EQ(found().trials, 0U);
  EXPECT_FALSE(found().attempt.has_value());
  put(200, {.cache = record::CachePolicy::Warm});
  put(500, {.cache = record::CachePolicy::WeightsCold});
  const Hash128 best = put(400, {.cache = record::CachePolicy::WeightsCold});
  EXPECT_EQ(found().trials, 3U);
  EXPECT_EQ(found().attempt, best);
}

TEST(ExplainModel, MeasuresTheModelAndTheMachine) {
  const SmallModel small;
  compile_small(small);
  ExplainModelOptions options{.library = small / "small.so", .records = kNoRecords, .seconds = 0};
  for (const int threads : {0, 2}) {
    options.threads = threads;
    const auto explained = explain_model(options, {});
    ASSERT_TRUE(explained.has_value()) << explained.error().message;
    ASSERT_TRUE(explained->has_value());
    const ExplainedModel& model = **explained;
    EXPECT_EQ(model.threads, std::max(1, threads));
    EXPECT_EQ(model.compiled_threads, 1);
    EXPECT_GT(model.run_ns, 0);
    EXPECT_GT(model.kernels_ns, 0);
    EXPECT_GT(model.limit_ns, 0);
    EXPECT_GT(model.rates.gflops, 0);
    EXPECT_EQ(model.rates.levels.back().name, "memory");
    for (const LevelRate& level : model.rates.levels) {
      EXPECT_GT(level.copy_gb_per_s, 0) << level.name;
      EXPECT_GE(level.read_gb_per_s, level.copy_gb_per_s) << level.name;
    }
  }
}

TEST(ExplainModel, ErrorsSayWhat) {
  const SmallModel small;
  const auto said = [](const ExplainModelOptions& options) {
    const auto explained = explain_model(options, {});
    return explained.has_value() ? std::string("no error") : explained.error().message;
  };
  EXPECT_THAT(said({.library = small.model_file()}), HasSubstr("is not a compiled model"));
  EXPECT_THAT(said({.library = small / "none.so"}), HasSubstr("cannot open"));
  ASSERT_TRUE(write_file_atomically(small / "text.so", "nonsense").has_value());
  EXPECT_THAT(said({.library = small / "text.so"}), HasSubstr("text.so"));
  compile_small(small);
  EXPECT_THAT(said({.library = small / "small.so", .inputs = {"z=z.npy"}, .seconds = 0}),
              HasSubstr("x f32[32,32]"));
}

TEST(ExplainModel, AStopEndsIt) {
  const SmallModel small;
  compile_small(small);
  const StopSource stop;
  stop.request();
  const auto explained = explain_model({.library = small / "small.so"}, stop.token());
  ASSERT_TRUE(explained.has_value()) << explained.error().message;
  EXPECT_FALSE(explained->has_value());
}

}  // namespace
}  // namespace tilewright::app
