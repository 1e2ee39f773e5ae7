// The proof that a back end is its own files and one line: kernels for a made-up machine, by hand
// and through the workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "app/doctor.h"
#include "app/explain.h"
#include "app/graph_view.h"
#include "app/lower_operator.h"
#include "app/model_tasks.h"
#include "app/replay.h"
#include "app/tune.h"
#include "base/must_testing.h"
#include "base/temporary_folder.h"
#include "codegen/back_ends/bound_kernel_testing.h"
#include "deploy/plan_workload.h"
#include "deploy/runner.h"
#include "ir/element.h"
#include "ir/visit.h"
#include "lower/flatten.h"
#include "measure/measurer.h"
#include "runtime/host/loaders.h"
#include "schedule/apply.h"
#include "task/parse.h"
#include "tests/differential/back_end_check.h"
#include "tests/differential/random_programs.h"
#include "tests/differential/settings.h"
#include "tests/toys/machine/back_end/toy_back_end.h"
#include "tests/toys/machine/device/toy_code.h"
#include "tests/toys/machine/loader/toy_loader.h"
#include "tests/toys/machine/toy_machine.h"

namespace tilewright::toys {
namespace {

constexpr const char* kWorkload = "matmul:m=6,n=8,k=5";

Task toy_task(const char* workload = kWorkload) {
  return {*parse_workload(workload), toy_target()};
}

schedule::Trace trace_of(const std::string& text) { return must(schedule::trace_from_text(text)); }

schedule::LoopTree tree_of(const Task& task, const schedule::Trace& trace) {
  return must(schedule::apply_or_explain(must(schedule::initial_tree(task.workload)), trace));
}

std::vector<float> run(const Task& task, const schedule::Trace& trace,
                       const codegen::BackEnd* back_end) {
  auto kernel = codegen::BoundKernel::build(task, tree_of(task, trace), trace,
                                            {.back_end = back_end}, /*guard_bytes=*/64);
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

// Every loop one iteration after another.
void serialize_all(ir::Function& function, const lower::PassContext&) {
  class Serializer : public ir::Rewriter {
   public:
    using ir::Rewriter::rewrite;
    ir::Stmt rewrite(const ir::Stmt& stmt) override {
      const auto* loop = stmt.as<ir::For>();
      if (loop == nullptr) return rewrite_children(stmt);
      return ir::make_for(loop->var, loop->extent, ir::ForKind::Serial, rewrite(loop->body));
    }
  };
  function.body = Serializer().rewrite(function.body);
}

TEST(ToyMachine, ItsProbeWorks) {
  const Status status = codegen::probe(toy_back_end());
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST(ToyMachine, IsFoundByTargetOnlyIfItsTableIsPassed) {
  const Target target = toy_target();
  EXPECT_FALSE(codegen::back_end_for(target, other_back_ends()).has_value());
  const std::vector<codegen::BackEnd> rows = back_ends_with_toy();
  EXPECT_EQ((*codegen::back_end_for(target, rows))->name, "toy");
  EXPECT_EQ((*codegen::back_end_for(*parse_target("x86-64-v3"), rows))->name, "llvm");
  EXPECT_FALSE(runtime::check_loadable(target, other_loaders()).has_value());
  EXPECT_TRUE(runtime::check_loadable(target, loaders_with_toy()).has_value());
}

TEST(ToyMachine, ResultsEqualThoseOfTheCpu) {
  const Task cpu{*parse_workload(kWorkload), host_target(1)};
  for (const char* steps : {"", "split C i [2]\nannotate C i.0 parallel\n",
                            "cache_write C\nsplit C j [4]\ncompute_at C.write C j.0\n"}) {
    const schedule::Trace trace = trace_of(steps);
    EXPECT_EQ(run(toy_task(), trace, &toy_back_end()), run(cpu, trace, nullptr)) << steps;
  }
}

// The random programs of tests/differential, with the machine as a row of the table: its passes,
// its compiler, its loader. The same environment variables widen the run.
TEST(ToyMachine, RandomProgramsAgree) {
  const int64_t cases = tilewright::testing::setting("TILEWRIGHT_DIFFERENTIAL_CASES", 500) / 10;
  const std::vector<codegen::BackEnd> rows = back_ends_with_toy();
  tilewright::testing::RandomPrograms programs(tilewright::testing::seed_setting(),
                                               {.target = toy_target(), .rows = rows});
  programs.run(cases);
  if (HasFailure()) return;
  const tilewright::testing::Tally& tally = programs.tally();
  EXPECT_EQ(tally.programs, cases);
  EXPECT_GT(tally.distinct.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GT(tally.compared, 1000);
}

// Features that random programs do not use: shared memory, and loops bound to blocks and threads.
TEST(ToyMachine, ProgramsForDevicesAgree) {
  const Task task = toy_task("matmul:m=6,n=8,k=5,constant=B");
  const std::vector<codegen::BackEnd> rows = back_ends_with_toy();
  tilewright::testing::ProgramChecker checker(task, 1);
  tilewright::testing::BackEndBatch batch(task.target, rows);
  const std::vector<std::string> programs = {
      "",
      "split C i [4]\nannotate C i.0 parallel\n",
      "cache_read A [C] scope=shared\ncompute_at A.read C i\n",
      "split C j [3]\npack B C\n",
      "split C i [2]\nbind C i.0 block_x\nbind C i.1 thread_x\n",
  };
  for (const std::string& steps : programs) {
    const schedule::Trace trace = trace_of(steps);
    tilewright::testing::Interpreted interpreted;
    const auto failure = checker.check(tree_of(task, trace), trace,
                                       {.interpreted = &interpreted, .back_end = &toy_back_end()});
    ASSERT_FALSE(failure.has_value()) << steps << failure->text;
    EXPECT_TRUE(
        tilewright::testing::same_passes(interpreted.lowered.passes, toy_back_end().passes));
    batch.add(task.workload, std::move(interpreted));
  }
  EXPECT_EQ(batch.size(), programs.size());
  const auto failure = batch.check();
  EXPECT_FALSE(failure.has_value()) << programs[failure->program] << failure->text;
}

// Programs that were checked after other passes are lowered again by its own.
TEST(ToyMachine, BatchesLowerByThePassesOfTheirRow) {
  const Task task = toy_task();
  const schedule::Trace trace = trace_of("reorder C [k, i, j]\nannotate C j vectorize\n");
  tilewright::testing::ProgramChecker checker(task, 1);
  tilewright::testing::Interpreted interpreted;  // with vectors, which the machine refuses
  const codegen::BackEnd& interpreter = codegen::all_back_ends().front();
  const auto problem =
      checker.check(tree_of(task, trace), trace,
                    {.compiled = false, .interpreted = &interpreted, .back_end = &interpreter});
  ASSERT_FALSE(problem.has_value()) << problem->text;
  std::vector<codegen::BackEnd> rows = {toy_back_end()};
  static constexpr std::array kPlain = {lower::Pass{"flatten", lower::flatten},
                                        lower::Pass{"serialize all", serialize_all}};
  rows[0].passes = kPlain;
  tilewright::testing::BackEndBatch batch(task.target, rows);
  batch.add(task.workload, std::move(interpreted));
  const auto failure = batch.check();
  EXPECT_FALSE(failure.has_value()) << failure->text;
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

TEST(ToyMachine, RunsOnlyItsPasses) {
  const Task task = toy_task();
  const schedule::Trace trace = trace_of("annotate C i parallel\n");
  std::vector<lower::PassReport> reports;
  const auto function =
      codegen::lower_for(toy_back_end(), task, tree_of(task, trace), trace, {.report = &reports});
  ASSERT_TRUE(function.has_value()) << function.error().message;
  std::vector<std::string> names;
  for (const lower::PassReport& report : reports) names.push_back(report.pass);
  EXPECT_THAT(names,
              ::testing::ElementsAre("build_nest", "flatten", "expand_functions", "bind_threads"));
  const auto artifact = codegen::compile(toy_back_end(), *function, task.target);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().message;
  EXPECT_EQ(artifact->launch.grid[0], 6);
}

// The axes of bound loops give the launch; a tail has no more threads than a whole tile.
TEST(ToyMachine, BoundLoopsAreALaunch) {
  const Task task = toy_task("matmul:m=10,n=8,k=5");
  const schedule::Trace trace = trace_of(
      "cache_read A [C] scope=shared\nsplit C i [4]\nreorder C [i.0, j, i.1, k]\n"
      "bind C i.0 block_y\nbind C j block_x\nbind C i.1 thread_z\n"
      "compute_at A.read C i.0\nbind A.read d1 thread_x\n");
  const auto artifact =
      codegen::build_artifact(task, tree_of(task, trace), trace, {.back_end = &toy_back_end()});
  ASSERT_TRUE(artifact.has_value()) << artifact.error().message;
  EXPECT_EQ(artifact->launch,
            (runtime::Launch{.grid = {8, 3, 1}, .block = {5, 1, 4}, .shared_bytes = 4 * 5 * 4}));
  const Task cpu{task.workload, host_target(1)};
  EXPECT_EQ(run(task, trace, &toy_back_end()), run(cpu, trace_of(""), nullptr));
}

// Memories of a thread reach the back end as the schedule selected them.
TEST(ToyMachine, BuffersAreInTheMemoryOfTheSchedule) {
  const Task task = toy_task();
  for (const auto& [scope, expected] :
       {std::pair{"local", ir::Scope::DeviceLocal},
        std::pair{"register", ir::Scope::DeviceRegister}, std::pair{"shared", ir::Scope::Shared},
        std::pair{"global", ir::Scope::DeviceGlobal}}) {
    const schedule::Trace trace = trace_of("cache_read A [C] scope=" + std::string(scope) +
                                           "\nbind C i block_x\ncompute_at A.read C i\n");
    const ir::Function function =
        must(codegen::lower_for(toy_back_end(), task, tree_of(task, trace), trace));
    const auto buffer = std::ranges::find(function.buffers, "A.read", &ir::Buffer::name);
    ASSERT_NE(buffer, function.buffers.end());
    EXPECT_EQ(buffer->scope, expected) << scope;
  }
}

TEST(ToyMachine, SharedMemoryHasALimit) {
  const Task task = toy_task("matmul:m=256,n=8,k=256");
  const schedule::Trace trace = trace_of(
      "cache_read A [C] scope=shared\n"
      "split C i [256]\n"
      "compute_at A.read C i.0\n");
  const auto artifact =
      codegen::build_artifact(task, tree_of(task, trace), trace, {.back_end = &toy_back_end()});
  ASSERT_FALSE(artifact.has_value());
  EXPECT_THAT(artifact.error().message, ::testing::HasSubstr("262144 bytes of shared memory"));
}

TEST(ToyMachine, MalformedArtifactsAreErrors) {
  const Task task = toy_task();
  const runtime::Artifact good =
      must(codegen::build_artifact(task, tree_of(task, {}), {}, {.back_end = &toy_back_end()}));
  EXPECT_TRUE(decode(good.bytes).has_value());
  for (size_t size = 0; size < good.bytes.size(); size += 7) {
    EXPECT_FALSE(decode(std::span(good.bytes).first(size)).has_value()) << size;
  }
  for (size_t at = 0; at < good.bytes.size(); ++at) {
    for (const uint8_t change : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
      runtime::Artifact bad = good;
      bad.bytes[at] ^= change;
      EXPECT_FALSE(toy_loader().load(bad).has_value()) << at;
    }
  }
}

struct Tables {
  deploy::BackEndTables view() const { return {.back_ends = back_ends, .loaders = loaders}; }

  std::vector<codegen::BackEnd> back_ends;
  std::vector<runtime::Loader> loaders;
};
Tables with_toy() { return {back_ends_with_toy(), loaders_with_toy()}; }
Tables without_toy() { return {other_back_ends(), other_loaders()}; }

app::TuneOptions tune_options(const TemporaryFolder& folder) {
  return {.what = {kWorkload},
          .target = {.target = print_target(toy_target()), .threads = 0},
          .records = folder / "toy.db",
          .workers = TILEWRIGHT_TOY_WORKERS,
          .trials = 8};
}

TEST(ToyMachine, IsTunedThroughTheApplication) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  const Tables tables = with_toy();
  app::TuneOptions options = tune_options(folder);
  options.tables = tables.view();
  app::TuneListener silent;
  const app::TuneOutcome outcome = must(app::tune(options, silent, {}));
  EXPECT_TRUE(outcome.status.has_value()) << outcome.status.error().message;
  EXPECT_TRUE(outcome.has_winner());
  EXPECT_EQ(outcome.tally.trials(), 8U);
  EXPECT_EQ(outcome.peak_gflops, 0);  // that of the CPU does not apply to it

  app::ReplayOptions again{.id = outcome.rows.at(0).result.winning_trial()->attempt.hex(),
                           .records = options.records,
                           .workers = options.workers};
  const Tables others = without_toy();
  again.tables = others.view();
  EXPECT_THAT(app::replay(again, {}).error().message,
              ::testing::HasSubstr("no code is made for cuda:sm_75"));
  again.tables = tables.view();
  const app::ReplayOutcome replayed = must(app::replay(again, {}));
  ASSERT_TRUE(replayed.now.has_value());
  EXPECT_EQ(replayed.now->attempt.verdict.kind, record::VerdictKind::Timed);
}

// The host that measured it is this machine, but its caches, lanes and peak do not apply to it.
TEST(ToyMachine, IsExplained) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  const Tables tables = with_toy();
  app::TuneOptions options = tune_options(folder);
  options.tables = tables.view();
  app::TuneListener silent;
  const app::TuneOutcome outcome = must(app::tune(options, silent, {}));
  const app::Explanation explanation =
      must(app::explain({.what = outcome.rows.at(0).result.winning_trial()->attempt.hex(),
                         .records = options.records}));
  EXPECT_TRUE(explanation.attempt->is_this_machine);
  EXPECT_EQ(explanation.no_peak, "The ceilings of a device are unknown.");
  EXPECT_EQ(explanation.ceilings.gflops, 0);
  ASSERT_TRUE(explanation.program.has_value()) << explanation.no_program;
  EXPECT_EQ(explanation.program->levels_of, "");
  ASSERT_EQ(explanation.program->traffic.levels.size(), 1U);
  EXPECT_EQ(explanation.program->traffic.levels[0].name, "registers");
  ASSERT_FALSE(explanation.program->shares.empty());
  EXPECT_GT(explanation.program->shares[0].reached, 0);
  EXPECT_EQ(explanation.program->shares[0].ceiling, 0);
  for (const std::string& limit : explanation.program->limits) {
    EXPECT_THAT(limit, ::testing::Not(::testing::HasSubstr("lanes")));
  }
}

TEST(ToyMachine, RequiresItsTablesForTuning) {
  const TemporaryFolder folder = must(make_scratch_folder("tilewright-toy-"));
  app::TuneListener silent;
  app::TuneOptions options = tune_options(folder);
  const Tables others = without_toy();
  options.tables = others.view();
  const auto no_compiler = app::tune(options, silent, {});
  ASSERT_FALSE(no_compiler.has_value());
  EXPECT_THAT(no_compiler.error().message, ::testing::HasSubstr("no code is made for cuda:sm_75"));
  const Tables tables = with_toy();
  options.tables.back_ends = tables.back_ends;
  const auto no_loader = app::tune(options, silent, {});
  ASSERT_FALSE(no_loader.has_value());
  EXPECT_EQ(no_loader.error().message,
            "code for cuda:sm_75 cannot be run: no loader takes artifacts of kind 'toy'");
}

// Each function of the application that needs a back end takes it from its options.
TEST(ToyMachine, ItsTasksAreListedAndDrawn) {
  const Tables tables = with_toy();
  app::ModelOptions options{.model = {.what = kWorkload},
                            .target = {.target = print_target(toy_target()), .threads = 0},
                            .records = app::kNoRecords};
  const Tables others = without_toy();
  options.tables = others.view();
  EXPECT_FALSE(app::model_tasks(options).has_value());
  EXPECT_FALSE(app::view_model(options).has_value());
  options.tables = tables.view();
  EXPECT_EQ(must(app::model_tasks(options)).tasks.size(), 1U);
  EXPECT_EQ(must(app::view_model(options)).kernels, 1U);
}

TEST(ToyMachine, IsExamined) {
  const Tables tables = with_toy();
  app::DoctorListener silent;
  const app::MachineReport report = must(
      app::examine_machine({.threads = 1, .seconds = 0.01, .tables = tables.view()}, silent, {}));
  ASSERT_EQ(report.back_ends.size(), tables.back_ends.size());
  EXPECT_EQ(report.back_ends.back().back_end->name, "toy");
  EXPECT_TRUE(report.back_ends.back().status.has_value());
}

TEST(ToyMachine, IsLoweredByItsOwnPasses) {
  const Tables tables = with_toy();
  app::LowerOptions options{.what = kWorkload,
                            .target = {.target = print_target(toy_target()), .threads = 0}};
  const Tables others = without_toy();
  options.tables = others.view();
  EXPECT_FALSE(app::lower_operator(options).has_value());
  options.tables = tables.view();
  const app::Lowered lowered = must(app::lower_operator(options));
  ASSERT_EQ(lowered.passes.size(), 4U);
  EXPECT_EQ(lowered.passes.back().pass, "bind_threads");
}

TEST(ToyMachine, ItsCodeIsShownAsText) {
  const Tables tables = with_toy();
  app::LowerOptions options{.what = kWorkload,
                            .target = {.target = print_target(toy_target()), .threads = 0},
                            .texts = {"toy"},
                            .tables = tables.view()};
  const app::Lowered lowered = must(app::lower_operator(options));
  ASSERT_TRUE(lowered.status.has_value()) << lowered.status.error().message;
  ASSERT_EQ(lowered.texts.size(), 1U);
  EXPECT_EQ(lowered.texts[0].back_end, "toy");
  EXPECT_THAT(lowered.texts[0].text, ::testing::HasSubstr("for v < 6:"));
  options.texts = {"assembly"};  // which is a form of another machine's code
  EXPECT_EQ(app::lower_operator(options)->status.error().kind, ErrorKind::Unsupported);
  options.tables = {};
  options.target.target = "x86-64-v3";
  options.texts = {"toy"};
  EXPECT_THAT(app::lower_operator(options).error().message,
              ::testing::HasSubstr("no back end prints its code as 'toy'"));
}

// A model of one kernel is compiled and run in this process: the Runner calls the device's loader.
TEST(ToyMachine, IsCompiledAndRunByTheRunner) {
  const Task task = toy_task("matmul:m=6,n=8,k=5,constant=none");
  const Tables tables = with_toy();
  const deploy::ModelPlan plan = deploy::plan_workload(task.workload, {});
  deploy::Choice choice;
  choice.trace = trace_of("split C i [2]\nannotate C i.0 parallel\n");
  const Tables others = without_toy();
  EXPECT_FALSE(
      deploy::compile_model(plan, {&choice, 1}, task.target, {.back_ends = others.back_ends})
          .has_value());
  const deploy::Program program =
      must(deploy::compile_model(plan, {&choice, 1}, task.target, {.back_ends = tables.back_ends}));
  EXPECT_FALSE(deploy::Runner::load(program, others.loaders).has_value());
  deploy::Runner runner = must(deploy::Runner::load(program, tables.loaders));
  std::vector<graph::Constant> inputs;
  for (const deploy::ProgramTensor& input : program.inputs) {
    std::vector<std::byte> bytes(static_cast<size_t>(input.type.bytes()));
    for (int64_t e = 0; e < input.type.elements(); ++e) {
      ir::write_element(bytes.data(), input.type.element, e, static_cast<double>(e % 7) - 3);
    }
    inputs.push_back(graph::Constant::of_bytes(input.type, std::move(bytes)));
  }
  const std::vector<graph::Constant> results = must(runner.run(inputs));
  ASSERT_EQ(results.size(), 1U);
  const auto* const begin = reinterpret_cast<const float*>(results[0].bytes().data());
  const Task cpu{*parse_workload(kWorkload), host_target(1)};
  EXPECT_EQ(std::vector<float>(begin, begin + 48), run(cpu, trace_of(""), nullptr));
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
