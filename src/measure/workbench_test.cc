// Executes kernels on a Workbench: correct ones are timed, faulty ones get their verdict.
#include "measure/workbench.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "base/sanitizer.h"
#include "measure/forked_testing.h"
#include "measure/mounted_kernel.h"
#include "measure/workbench_testing.h"
#include "runtime/host/loaders.h"
#include "runtime/host/thread_pool.h"
#include "schedule/trace.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::measure {
namespace {

using record::VerdictKind;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kTimeout = 5e9;
constexpr const char* kRelu = "elementwise:shape=37,chain=relu";

BuiltKernel kernel_of(const char* text) { return build_default(task_of_text(text)); }

// Y[i] = X[i] > 0 ? X[i] : 0: the same as relu, but 0 of NaN.
BuiltKernel relu_that_loses_nan() {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {37}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", 37);
  const ir::Expr value = builder.read(x, {i.var}), zero = ir::imm(0, value.type());
  builder.compute("Y", {i}, ir::select(ir::binary(ir::BinaryOp::Gt, value, zero), value, zero));
  const Task task{.workload = make_workload(std::move(builder).build(), {}, "relu"),
                  .target = host_target(1)};
  return build_for_test(task, {});
}

// Y[i] = max over k < `extent` of max(X[i], k).
BuiltKernel long_kernel(int64_t extent, int threads = 1, std::string_view trace = {}) {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {37}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", 37), k = builder.axis("k", extent);
  const ir::Expr value = ir::max(builder.read(x, {i.var}), ir::cast(ir::Scalar::F32, k.var));
  builder.reduce("Y", {i}, {k}, ir::BinaryOp::Max, value, ir::Scalar::F32);
  const Task task{.workload = make_workload(std::move(builder).build(), {}, "long"),
                  .target = host_target(threads)};
  return build_for_test(task, schedule::trace_from_text(trace).value());
}

RunRequest request_of(record::CachePolicy cache = record::CachePolicy::Warm) {
  return {.protocol = {.version = 1, .cache = cache, .interleaved = false},
          .incumbent_ns = 0,
          .timeout_ns = kTimeout,
          .censor_ns = 0};
}

TEST(Workbench, TimesCorrectCandidates) {
  using enum record::CachePolicy;
  TestBench test(task_of_text("matmul:m=30,n=40,k=50,constant=B", 2));
  const BuiltKernel kernel = build_default(test.task, 1);
  for (const record::CachePolicy cache : {Warm, Cold, WeightsCold}) {
    const RunOutcome outcome = test.bench->measure(kernel, request_of(cache));
    ASSERT_EQ(outcome.verdict.kind, VerdictKind::Timed) << outcome.verdict.text;
    EXPECT_GE(outcome.verdict.samples_ns.size(), 5U);
    EXPECT_GT(outcome.verdict.latency_ns, 0);
    EXPECT_GT(outcome.kernel_ns, outcome.verdict.latency_ns);
    EXPECT_GT(outcome.conditions.check_ns, 0);
    EXPECT_GT(outcome.conditions.time_ns, 0);
    EXPECT_GT(outcome.conditions.clock, 0);
  }
}

TEST(Workbench, CensorsSlowCandidates) {
  TestBench test(task_of_text(kRelu));
  RunRequest request = request_of();
  request.censor_ns = 1;
  const RunOutcome outcome = test.bench->measure(build_default(test.task), request);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::Censored);
  EXPECT_GT(outcome.verdict.latency_ns, 1);
  EXPECT_TRUE(outcome.verdict.samples_ns.empty());
}

// A thread needs some ten ms for an iteration of the parallel loop, and seconds for all.
TEST(Workbench, StopsAHopelessFirstCall) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer holds signals back";
  for (const int threads : {1, 2}) {
    TestBench test(task_of_text(kRelu, threads));
    RunRequest request = request_of();
    request.timeout_ns = 600e9;
    request.censor_ns = 1000;
    const BuiltKernel kernel = long_kernel(int64_t{1} << 26, threads, "annotate Y i parallel\n");
    const RunOutcome outcome = test.bench->measure(kernel, request);
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::Censored);
    EXPECT_EQ(outcome.verdict.text, "stopped in its first call");
    EXPECT_GE(outcome.verdict.latency_ns, request.censor_ns);
    EXPECT_TRUE(outcome.verdict.samples_ns.empty());
    EXPECT_EQ(outcome.conditions.time_ns, 0);
    // The next candidate runs to its end, on poisoned memory.
    const RunOutcome good = test.bench->check(build_default(test.task, 1), kTimeout);
    EXPECT_EQ(good.verdict.kind, VerdictKind::Timed) << good.verdict.text;
  }
}

// Loads kernels whose first call pauses for so many chunks of a millisecond, unlike its next calls.
class PausingCode : public runtime::LoadedCode {
 public:
  explicit PausingCode(std::unique_ptr<runtime::LoadedCode> code) : code_(std::move(code)) {}
  int32_t call(const TilewrightCall& call) const override {
    const auto pause = [](void*, int64_t, int32_t) { usleep(1000); };
    if (calls_++ == 0 && tilewright_parallel_for(call.pool, 1, 4000, pause, nullptr) != 0) {
      return TILEWRIGHT_STATUS_PARALLEL_FAILED;
    }
    return code_->call(call);
  }

 private:
  std::unique_ptr<runtime::LoadedCode> code_;
  mutable int calls_ = 0;
};

// A pause of the process, as with a CPU quota, must not censor a fast kernel.
TEST(Workbench, RepeatsAFirstCallThatPaused) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer holds signals back";
  runtime::Loader loader = *runtime::find_loader(runtime::kElfArtifact);
  loader.load =
      [](const runtime::Artifact& artifact) -> Result<std::unique_ptr<runtime::LoadedCode>> {
    return std::make_unique<PausingCode>(
        TRY(runtime::find_loader(runtime::kElfArtifact)->load(artifact)));
  };
  TestBench test(task_of_text(kRelu));
  Workbench bench =
      Workbench::make(test.task, test.operands, test.tolerance, test.status, {&loader, 1}).value();
  RunRequest request = request_of();
  request.timeout_ns = 600e9;
  request.censor_ns = 50e6;
  const RunOutcome outcome = bench.measure(build_default(test.task), request);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::Timed) << outcome.verdict.text;
  EXPECT_LT(outcome.verdict.latency_ns, request.censor_ns);
  EXPECT_GT(outcome.kernel_ns, request.censor_ns);  // the pause included
}

// It ends some time after the limit, and is then compared.
TEST(Workbench, RunsAKernelWithoutLoopsToStopToItsEnd) {
  TestBench test(task_of_text(kRelu));
  RunRequest request = request_of();
  request.timeout_ns = 600e9;
  request.censor_ns = 1;
  const RunOutcome outcome = test.bench->measure(long_kernel(int64_t{1} << 22), request);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::WrongResult);
}

// A relu of a part of a larger array.
Task part_task(int64_t columns, std::vector<int64_t> within) {
  const auto relu =
      parse_workload(fmt::format("elementwise:shape=9x{},chain=relu", columns)).value();
  std::vector<OperandPart> parts;
  if (!within.empty()) {
    parts = {{.tensor = "X", .extents = within, .alignment = 64},
             {.tensor = "Y", .extents = within, .alignment = 64}};
  }
  return {.workload = dag_workload(relu.dag, {}, {}, parts), .target = host_target(1)};
}

TEST(Workbench, PartsOfLargerArrays) {
  TestBench test(part_task(5, {9, 8}));
  ASSERT_TRUE(test.error.empty()) << test.error;
  const RunOutcome good = test.bench->measure(build_default(test.task, 1), request_of());
  EXPECT_EQ(good.verdict.kind, VerdictKind::Timed) << good.verdict.text;
  // Dense operands have other row offsets. With longer rows, the gaps are written.
  const RunOutcome dense = test.bench->measure(build_default(part_task(5, {})), request_of());
  EXPECT_NE(dense.verdict.kind, VerdictKind::Timed);
  const RunOutcome longer = test.bench->measure(build_default(part_task(6, {9, 8})), request_of());
  EXPECT_EQ(longer.verdict.kind, VerdictKind::Crash);
  EXPECT_THAT(longer.verdict.text, HasSubstr("output Y: written between its elements"));
}

// The location of an operand follows from its storage, a part or a layout.
TEST(BenchMemory, OperandsHaveTheStoredLayout) {
  Workload workload = parse_workload("elementwise:shape=3x6,chain=relu").value();
  const std::vector<int64_t> shape = {3, 6};
  for (Operand& operand : workload.operands) {
    operand.layout = layout::Layout::blocked(shape, 1, 4);
  }
  const SharedOperands operands = SharedOperands::create(workload).value();
  const auto* given = reinterpret_cast<float*>(operands.operand(0).data());
  for (int k = 0; k < 18; ++k) const_cast<float*>(given)[k] = static_cast<float>(k + 1);
  const BenchMemory memory = BenchMemory::make(workload, operands).value();
  ASSERT_EQ(memory.operands[0].bytes().size(), 2 * 3 * 4 * sizeof(float));
  const auto* laid = reinterpret_cast<const float*>(memory.operands[0].data());
  EXPECT_EQ(laid[3 * 4], 5);  // row 0, column 4: the second block begins
  EXPECT_EQ(laid[3 * 4 + 2], 0);
  std::vector<std::byte> scratch;
  const std::span<const std::byte> back = memory.row_major(workload, 0, scratch);
  ASSERT_EQ(back.size(), 18 * sizeof(float));
  EXPECT_EQ(std::memcmp(back.data(), given, back.size()), 0);
}

struct Bad {
  const char* kernel;  // built for another workload with operands of the same number
  VerdictKind kind;
  const char* text;  // what is in it
};

TEST(Workbench, ReportsWrongResults) {
  const Bad cases[] = {
      {"elementwise:shape=37,chain=neg", VerdictKind::WrongResult, "Y[0] is "},
      {"elementwise:shape=36,chain=relu", VerdictKind::WrongResult, "1 of 37 elements are wrong"},
      {"elementwise:shape=38,chain=relu", VerdictKind::Crash,
       "the guard zone of output Y was overwritten, 0 bytes behind its end"},
  };
  TestBench test(task_of_text(kRelu));
  for (const Bad& bad : cases) {
    const RunOutcome outcome = test.bench->measure(kernel_of(bad.kernel), request_of());
    EXPECT_EQ(outcome.verdict.kind, bad.kind) << bad.kernel;
    EXPECT_THAT(outcome.verdict.text, HasSubstr(bad.text)) << bad.kernel;
    EXPECT_TRUE(outcome.verdict.samples_ns.empty());
    const RunOutcome good = test.bench->check(build_default(test.task, 1), kTimeout);
    EXPECT_EQ(good.verdict.kind, VerdictKind::Timed) << good.verdict.text;
  }
}

// Measured alone, only a candidate for the best is run with special values.
TEST(Workbench, SpecialValuesRevealErrors) {
  TestBench test(task_of_text(kRelu));
  const BuiltKernel kernel = relu_that_loses_nan();
  const auto expect_noticed = [](const RunOutcome& outcome) {
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::WrongResult);
    EXPECT_THAT(outcome.verdict.text,
                StartsWith("with NaN, infinities and denormals in the inputs: Y[36] is 0, "
                           "expected nan; 1 of 37 elements are wrong"));
  };
  expect_noticed(test.bench->check(kernel, kTimeout));
  expect_noticed(test.bench->measure(kernel, request_of()));
  RunRequest beaten = request_of();
  beaten.incumbent_ns = 1e-3;
  EXPECT_EQ(test.bench->measure(kernel, beaten).verdict.kind, VerdictKind::Timed);
  const BuiltKernel kernels[] = {build_default(test.task), kernel};
  const std::vector<RunOutcome> outcomes =
      test.bench->compare(kernels, {.protocol = {.version = 1, .cache = {}, .interleaved = true},
                                    .timeout_ns = kTimeout,
                                    .rounds = 1,
                                    .round_ns = 1e5});
  EXPECT_EQ(outcomes[0].verdict.kind, VerdictKind::Timed) << outcomes[0].verdict.text;
  expect_noticed(outcomes[1]);
  // The inputs are then as before.
  const RunOutcome good = test.bench->measure(build_default(test.task, 1), request_of());
  EXPECT_EQ(good.verdict.kind, VerdictKind::Timed) << good.verdict.text;
}

TEST(Workbench, UnloadableObjectsAreErrors) {
  TestBench test(task_of_text(kRelu));
  BuiltKernel nothing = build_default(test.task);
  nothing.artifact.bytes.clear();
  EXPECT_EQ(test.bench->check(nothing, kTimeout).verdict.kind, VerdictKind::Build);

  BuiltKernel packed = build_default(test.task);
  packed.packed = {{.operand = 0, .layout = layout::Layout::undecided()}};
  const RunOutcome outcome = test.bench->check(packed, kTimeout);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::Build);
  EXPECT_EQ(outcome.verdict.text, "operand 0 of the kernel is packed but not a constant");

  BuiltKernel greedy = build_default(test.task);
  greedy.artifact.shared_workspace = int64_t{1} << 50;
  EXPECT_THAT(test.bench->check(greedy, kTimeout).verdict.text,
              StartsWith("no memory for workspace of "));
}

struct Fatal {
  const char* bench;
  const char* kernel;
  const char* detail;
};

TEST(Workbench, DiesWithAReason) {
  const Fatal cases[] = {
      {kRelu, "elementwise:shape=100000,chain=relu", " bytes behind the end of "},
      {"binary:op=add,a=37,b=37", kRelu, "write to read-only input B at offset 0"},
  };
  for (const Fatal& fatal : cases) {
    TestBench test(task_of_text(fatal.bench));
    const BuiltKernel kernel = kernel_of(fatal.kernel);
    const Death death = run_forked([&] { test.bench->check(kernel, kTimeout); });
    EXPECT_EQ(death.signal, SIGSEGV);
    EXPECT_THAT(detail_text(death.status), HasSubstr(fatal.detail));
  }
}

TEST(Workbench, KillsEndlessLoops) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer holds signals back";
  TestBench test(task_of_text(kRelu));
  const BuiltKernel kernel = long_kernel(int64_t{1} << 40);
  const Death death = run_forked([&] { test.bench->check(kernel, 50e6); });
  EXPECT_EQ(death.exit_code, kTimedOutExit);
  EXPECT_EQ(death.status.timed_out, 1);
  EXPECT_EQ(detail_text(death.status), "ran longer than 50 ms");
}

TEST(Workbench, ComparisonsAlternate) {
  TestBench test(task_of_text("matmul:m=30,n=40,k=50,constant=B", 2));
  const std::vector<BuiltKernel> kernels = {build_default(test.task),
                                            kernel_of("matmul:m=29,n=40,k=50,constant=B"),
                                            build_default(test.task, 1)};
  const std::vector<RunOutcome> outcomes =
      test.bench->compare(kernels, {.protocol = {.version = 1, .cache = {}, .interleaved = true},
                                    .timeout_ns = kTimeout,
                                    .rounds = 3,
                                    .round_ns = 1e6});
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[1].verdict.kind, VerdictKind::WrongResult);
  for (const size_t k : {size_t{0}, size_t{2}}) {
    EXPECT_EQ(outcomes[k].verdict.kind, VerdictKind::Timed) << outcomes[k].verdict.text;
    EXPECT_GE(outcomes[k].verdict.samples_ns.size(), 3U);
    EXPECT_GT(outcomes[k].verdict.latency_ns, 0);
    EXPECT_GE(outcomes[k].conditions.time_ns, 3e6);
  }
}

int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  int64_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

TEST(Workbench, KeepsNoStateBetweenCandidates) {
  const Task task = task_of_text("matmul:m=30,n=40,k=50,constant=B", 2);
  TestBench test(task);
  std::vector<BuiltKernel> kernels;
  for (const char* columns : {"8", "16"}) {
    const std::string trace = std::string("cache_write C\nsplit C j [") + columns +
                              "]\nreorder C [j.0, i, j.1]\ncompute_at C.write C i\n"
                              "reorder C.write [k, i, j]\npack B C.write\n";
    kernels.push_back(build_for_test(task, schedule::trace_from_text(trace).value()));
    ASSERT_FALSE(kernels.back().packed.empty());
  }
  int64_t before = 0;
  for (int k = 0; k < 100; ++k) {
    if (k == 10) before = mappings();
    const RunOutcome outcome = test.bench->check(kernels[static_cast<size_t>(k) % 2], kTimeout);
    ASSERT_EQ(outcome.verdict.kind, VerdictKind::Timed) << outcome.verdict.text;
  }
  EXPECT_LE(mappings(), before);
}

TEST(SharedOperands, AreReadOnlyWhereAttached) {
  const Workload workload = task_of_text(kRelu).workload;
  SharedOperands made = SharedOperands::create(workload).value();
  made.operand(0)[0] = std::byte{42};
  const SharedOperands attached = SharedOperands::attach(workload, made.fd()).value();
  EXPECT_EQ(attached.operand(0)[0], std::byte{42});
  const Death death = run_forked([&] { attached.operand(0)[0] = std::byte{1}; });
  EXPECT_EQ(death.signal, SIGSEGV);
  attached.set_writable(true);
  attached.operand(1)[5] = std::byte{7};
  EXPECT_EQ(made.operand(1)[5], std::byte{7});
  const Workload other = task_of_text("elementwise:shape=37000,chain=relu").workload;
  EXPECT_FALSE(SharedOperands::attach(other, made.fd()));
}

}  // namespace
}  // namespace tilewright::measure
