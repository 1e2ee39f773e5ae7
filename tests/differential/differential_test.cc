// Random operators under random legal schedules: interpreter = LLVM = C = te/eval, and regions
// contain every touched element (and no other, if exact). These variables extend the run:
//
//   TILEWRIGHT_DIFFERENTIAL_CASES     programs for interpreter and LLVM
//   TILEWRIGHT_DIFFERENTIAL_C         programs for the C back end
//   TILEWRIGHT_DIFFERENTIAL_SEED      other programs
//   TILEWRIGHT_DIFFERENTIAL_FAILURES  how many failures end it
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "back_end_check.h"
#include "base/file.h"
#include "failure_report.h"
#include "random_programs.h"
#include "random_workload.h"
#include "schedule/apply.h"
#include "settings.h"
#include "task/parse.h"
#include "te/ops/table.h"

namespace tilewright::testing {
namespace {

constexpr size_t kBatch = 40;  // programs of one C source
constexpr size_t kMinKinds = 25;

TEST(Differential, InterpreterLlvmAndEvaluatorAgree) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_CASES", 500);
  RandomPrograms programs(seed_setting());
  programs.run(cases);
  const Tally& tally = programs.tally();
  fmt::print("{}", tally.text());
  if (HasFailure()) return;
  EXPECT_GT(tally.distinct.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GE(tally.kinds.size(), kMinKinds);
  EXPECT_GT(tally.regions.touched, 1000);
  EXPECT_GT(tally.regions.equal, 1000);
  EXPECT_LT(tally.illegal, tally.programs * 2);
  EXPECT_LT(tally.unbounded * 100, tally.compared);
}

TEST(Differential, PartsOfLargerArrays) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_CASES", 500) / 2;
  RandomPrograms programs(seed_setting() + 1);
  programs.set_parts();
  programs.run(cases);
  const Tally& tally = programs.tally();
  if (HasFailure()) return;
  EXPECT_GT(tally.distinct.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GE(tally.kinds.size(), kMinKinds);
}

// Separate programs; the test above covers LLVM.
TEST(Differential, InterpreterAndCAgree) {
  const Target target = host_target(2);
  BackEndBatch batch(target);
  std::vector<RandomPrograms::Drawn> drawn;
  const auto finish = [&] {
    if (const auto failure = batch.check()) {
      const RandomPrograms::Drawn& program = drawn[failure->program];
      ProgramChecker checker(program.task, program.seed);
      const auto initial = schedule::initial_tree(checker.task().workload).value();
      ADD_FAILURE() << c_failure_report(checker, initial, program.trace);
    }
    batch = BackEndBatch(target);
    drawn.clear();
  };
  RandomPrograms programs(seed_setting() + 1'000'000, {.compiled = false});
  programs.set_consumer([&](RandomPrograms::Drawn program, Interpreted interpreted) {
    batch.add(program.task.workload, std::move(interpreted));
    drawn.push_back(std::move(program));
    if (batch.size() == kBatch) finish();
  });
  programs.run(setting("TILEWRIGHT_DIFFERENTIAL_C", 60));
  if (batch.size() > 0) finish();
  fmt::print("{} programs as C\n", programs.tally().programs);
}

// Rows of an intermediate that do not fit on the stack of each thread.
TEST(Differential, BuffersOfAThread) {
  constexpr int64_t kPrograms = 6;
  RandomPrograms programs(seed_setting());
  const auto& kinds = all_workload_kinds();
  programs.set_kind(&*std::ranges::find(kinds, "long rows", &WorkloadKind::name));
  programs.set_filter([](const Task& task, const auto& tree, const auto& trace) {
    const ir::Function nest = lower::build_nest(task.workload, task.target, tree, trace);
    return std::ranges::count(nest.buffers, ir::Scope::Thread, &ir::Buffer::scope) > 0;
  });
  programs.run(kPrograms);
  EXPECT_GE(programs.tally().programs, HasFailure() ? 1 : kPrograms);
}

TEST(Differential, EveryOperatorIsDrawn) {
  const auto& kinds = all_workload_kinds();
  for (const te::Operator& op : te::all_operators()) {
    const bool drawn = std::ranges::any_of(kinds, [&](const WorkloadKind& kind) {
      return kind.name.substr(0, kind.name.find(' ')) == op.name;
    });
    EXPECT_TRUE(drawn) << op.name;
  }
}

// Reproduces a failure: TILEWRIGHT_DIFFERENTIAL_OPERATOR and ..._TRACE (a file) name the program.
TEST(Differential, GivenProgram) {
  const char* text = std::getenv("TILEWRIGHT_DIFFERENTIAL_OPERATOR");  // NOLINT: as in settings.h
  const char* file = std::getenv("TILEWRIGHT_DIFFERENTIAL_TRACE");     // NOLINT: as in settings.h
  if (text == nullptr || file == nullptr) GTEST_SKIP() << "no program given";
  const Result<Workload> workload = parse_workload(text);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Result<std::string> content = read_file(file);
  ASSERT_TRUE(content.has_value()) << content.error().message;
  const Result<schedule::Trace> trace = schedule::trace_from_text(*content);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Result<schedule::LoopTree> initial = schedule::initial_tree(*workload);
  ASSERT_TRUE(initial.has_value()) << initial.error().message;
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, *trace);
  ASSERT_TRUE(tree.has_value()) << tree.error().message;
  ProgramChecker checker({*workload, host_target(2)}, seed_setting());
  const auto failure = checker.check(*tree, *trace);
  EXPECT_FALSE(failure.has_value()) << failure_report(checker, *initial, *trace, {}, *failure);
}

}  // namespace
}  // namespace tilewright::testing
