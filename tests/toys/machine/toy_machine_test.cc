// The proof that a back end is its own files and one line: kernels for a made-up machine, by hand
// and through the workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "codegen/back_ends/build_kernel.h"
#include "measure/measurer.h"
#include "runtime/host/loaders.h"
#include "schedule/apply.h"
#include "task/parse.h"
#include "toy_code.h"
#include "toy_machine.h"

namespace tilewright::toys {
namespace {

constexpr const char* kWorkload = "matmul:m=6,n=8,k=5";

Task toy_task(const char* workload = kWorkload) {
  return {*parse_workload(workload), *parse_target("cuda:sm_75")};
}

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

schedule::Trace trace_of(const std::string& text) { return must(schedule::trace_from_text(text)); }

schedule::LoopTree tree_of(const Task& task, const schedule::Trace& trace) {
  return must(schedule::apply_or_explain(must(schedule::initial_tree(task.workload)), trace));
}

std::vector<float> run(const Task& task, const schedule::Trace& trace,
                       const codegen::BackEnd* back_end) {
  auto kernel = codegen::BoundKernel::build(task, tree_of(task, trace), trace,
                                            {.back_end = back_end, .guard_bytes = 64});
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return {};
  }
  for (size_t k = 0; k < 2; ++k) {
    for (int64_t e = 0; e < kernel->operand_elements(k); ++e) {
      kernel->operand(k).as<float>()[e] = static_cast<float>(e % 7) - 3;
    }
  }
  kernel->set_constants();
  EXPECT_EQ(kernel->run(), 0);
  EXPECT_TRUE(kernel->guards_intact());
  const float* result = kernel->operand(2).as<float>();
  return {result, result + kernel->operand_elements(2)};
}

TEST(ToyMachine, ItsProbeWorks) {
  const Status status = codegen::probe(toy_back_end());
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST(ToyMachine, IsFoundByItsTargetAndOnlyWhereItIsARow) {
  const Target target = *parse_target("cuda:sm_75");
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  std::vector<codegen::BackEnd> rows(all.begin(), all.end());
  EXPECT_FALSE(codegen::back_end_for(target, rows).has_value());
  rows.push_back(toy_back_end());
  EXPECT_EQ((*codegen::back_end_for(target, rows))->name, "toy");
  EXPECT_EQ((*codegen::back_end_for(*parse_target("x86-64-v3"), rows))->name, "llvm");
  EXPECT_FALSE(runtime::check_loadable(target).has_value());
  EXPECT_TRUE(runtime::check_loadable(target, loaders_with_toy()).has_value());
}

TEST(ToyMachine, ComputesWhatTheCpuDoes) {
  const Task cpu{*parse_workload(kWorkload), host_target(1)};
  for (const char* steps : {"", "split C i [2]\nannotate C i.0 parallel\n",
                            "cache_write C\nsplit C j [4]\ncompute_at C.write C j.0\n"}) {
    const schedule::Trace trace = trace_of(steps);
    EXPECT_EQ(run(toy_task(), trace, &toy_back_end()), run(cpu, trace, nullptr)) << steps;
  }
}

// A schedule that no CPU takes: a tile of A in memory that the threads of a block share.
TEST(ToyMachine, HasSharedMemory) {
  const Task task = toy_task();
  const schedule::Trace plain = trace_of("");
  const schedule::Trace shared = trace_of("cache_read A [C] scope=shared\ncompute_at A.read C i\n");
  const Task cpu{*parse_workload(kWorkload), host_target(1)};
  EXPECT_EQ(run(task, shared, &toy_back_end()), run(cpu, plain, nullptr));
  const auto artifact =
      codegen::build_artifact(task, tree_of(task, shared), shared, {.back_end = &toy_back_end()});
  ASSERT_TRUE(artifact.has_value()) << artifact.error().message;
  EXPECT_EQ(artifact->launch.shared_bytes, 5 * 4);  // one row of A
  EXPECT_FALSE(codegen::build_artifact(cpu, tree_of(cpu, shared), shared).has_value());
}

TEST(ToyMachine, ItsOwnPassesRunAndNoOthers) {
  const Task task = toy_task();
  const schedule::Trace trace = trace_of("annotate C i parallel\n");
  std::vector<lower::PassReport> reports;
  const auto function =
      codegen::lower_for(toy_back_end(), task, tree_of(task, trace), trace, {.report = &reports});
  ASSERT_TRUE(function.has_value()) << function.error().message;
  std::vector<std::string> names;
  for (const lower::PassReport& report : reports) names.push_back(report.pass);
  EXPECT_THAT(names,
              ::testing::ElementsAre("build_nest", "flatten", "expand_functions", "serialize"));
  const auto artifact = codegen::compile(toy_back_end(), *function, task.target);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().message;
  EXPECT_EQ(artifact->launch.grid[0], 6);
}

TEST(ToyMachine, SharedMemoryHasALimit) {
  const Task task = toy_task("matmul:m=256,n=8,k=256");
  const schedule::Trace trace = trace_of("cache_read A [C] scope=shared\n");
  const auto artifact =
      codegen::build_artifact(task, tree_of(task, trace), trace, {.back_end = &toy_back_end()});
  ASSERT_FALSE(artifact.has_value());
  EXPECT_THAT(artifact.error().message, ::testing::HasSubstr("262144 bytes of shared memory"));
}

TEST(ToyMachine, BytesAreNotTrusted) {
  const Task task = toy_task();
  const runtime::Artifact good =
      must(codegen::build_artifact(task, tree_of(task, {}), {}, {.back_end = &toy_back_end()}));
  EXPECT_TRUE(decode(good.bytes).has_value());
  for (size_t size = 0; size < good.bytes.size(); size += 7) {
    EXPECT_FALSE(decode(std::span(good.bytes).first(size)).has_value()) << size;
  }
}

// A build worker compiles, a run worker loads, checks and times: the same machinery as of a CPU.
TEST(ToyMachine, IsMeasuredThroughTheWorkers) {
  measure::MeasureOptions options;
  options.workers = TILEWRIGHT_TOY_WORKERS;
  options.timeout_floor_ms = 5000;
  options.censor_multiple = 1000;
  const std::vector<runtime::Loader> loaders = loaders_with_toy();
  options.loaders = loaders;
  auto measurer = measure::Measurer::start(toy_task(), options);
  ASSERT_TRUE(measurer.has_value()) << measurer.error().message;
  const std::vector<schedule::Trace> traces = {trace_of(""), trace_of("split C i [3]\n"),
                                               trace_of("split C i [2]\nannotate C i.1 unroll\n")};
  size_t timed = 0;
  const Status status =
      measurer->measure(traces, [&](std::span<const measure::Measurement> group) -> Status {
        for (const measure::Measurement& one : group) {
          EXPECT_EQ(one.verdict.kind, record::VerdictKind::Timed) << one.verdict.text;
          EXPECT_GT(one.verdict.latency_ns, 0);
          ++timed;
        }
        return {};
      });
  EXPECT_TRUE(status.has_value());
  EXPECT_EQ(timed, traces.size());
}

}  // namespace
}  // namespace tilewright::toys
