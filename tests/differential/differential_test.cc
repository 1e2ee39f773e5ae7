// Random operators under random legal schedules: interpreter = LLVM = C = te/eval, and regions
// hold every element that was touched, exactly where they say so. These widen the run:
//
//   TILEWRIGHT_DIFFERENTIAL_CASES  programs for interpreter and LLVM
//   TILEWRIGHT_DIFFERENTIAL_C      programs for the C back end
//   TILEWRIGHT_DIFFERENTIAL_SEED   other programs
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "c_check.h"
#include "failure_report.h"
#include "random_sketch.h"
#include "random_workload.h"
#include "schedule/apply.h"
#include "settings.h"
#include "task/parse.h"
#include "te/ops/table.h"

namespace tilewright::testing {
namespace {

constexpr int kGenomes = 4;    // programs of one sketch
constexpr size_t kBatch = 40;  // programs of one C source
constexpr size_t kMinKinds = 25;

// What was drawn, for people.
struct Tally {
  std::map<std::string_view, int64_t> programs;  // by kind of workload
  std::map<size_t, int64_t> steps;               // by the variant's index
  std::map<schedule::IllegalCode, int64_t> illegal;
  std::set<std::string> distinct;
  RegionCount regions;
  int64_t total = 0, illegal_draws = 0, tails = 0, thread_buffers = 0, unbounded = 0;

  void count(const schedule::LoopTree& tree, const schedule::Trace& trace) {
    ++total;
    distinct.insert(schedule::program_hash(tree).hex());
    for (const schedule::LoopVar& var : tree.vars) tails += var.is_split() && var.remainder != 0;
    for (const schedule::Step& step : trace.steps) ++steps[step.index()];
  }

  void print() const {
    fmt::print(
        "{} programs ({} distinct), {} illegal draws, {} splits with a remainder, {} "
        "buffers of a thread\n{}\n{} elements without a bound on their rounding\n",
        total, distinct.size(), illegal_draws, tails, thread_buffers, regions.text(), unbounded);
    for (const auto& [kind, count] : programs) fmt::print("  {:<32}{}\n", kind, count);
    for (const auto& [code, count] : illegal) fmt::print("  illegal {} {}\n", (int)code, count);
    for (const auto& [step, count] : steps) {
      fmt::print("  {:<32}{}\n", kTags[step], count);
    }
  }

  static constexpr auto kTags = []<class... S>(std::variant<S...>*) {
    return std::array{S::kTag...};
  }(static_cast<schedule::Step*>(nullptr));
};

int64_t thread_buffers(const ir::Function& function) {
  return std::ranges::count(function.buffers, ir::Scope::Thread, &ir::Buffer::scope);
}

using Consumer = std::function<void(const Task&, Interpreted, std::string description)>;

// Draws and checks `cases` programs; hands each to `next` when there is one.
void run_cases(int64_t cases, uint64_t seed, const CheckOptions& options, const Consumer& next,
               Tally& tally) {
  Rng rng(seed);
  while (tally.total < cases) {
    const WorkloadKind& kind = random_kind(rng);
    ProgramChecker checker({random_workload(kind, rng), host_target(2)}, rng.next());
    const Workload& workload = checker.task().workload;
    const Result<schedule::LoopTree> initial = schedule::initial_tree(workload);
    ASSERT_TRUE(initial.has_value()) << initial.error().message;
    const schedule::Sketch sketch = random_sketch(workload, rng);
    schedule::Trace trace;
    schedule::LoopTree tree;
    for (int genome = 0; genome < kGenomes && tally.total < cases; ++genome) {
      schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
      if (const schedule::Illegal reason = schedule::apply(*initial, trace, &tree)) {
        ++tally.illegal_draws;
        ++tally.illegal[reason.code];
        ASSERT_TRUE(schedule::explain(*initial, trace, reason).starts_with("illegal "));
        continue;
      }
      tally.count(tree, trace);
      ++tally.programs[kind.name];
      Interpreted interpreted;
      CheckOptions with_result = options;
      with_result.interpreted = &interpreted;
      const auto failure = checker.check(tree, trace, with_result);
      ASSERT_FALSE(failure.has_value())
          << "case " << tally.total << " of seed " << seed << ": "
          << failure_report(checker, *initial, trace, options, *failure);
      tally.thread_buffers += thread_buffers(interpreted.function);
      if (next) {
        next(checker.task(), std::move(interpreted),
             fmt::format("case {} of seed {}\noperator {}\ntrace\n{}", tally.total, seed,
                         workload.text, to_text(trace)));
      }
    }
    tally.regions.add(checker.regions());
    tally.unbounded += checker.unbounded();
  }
}

uint64_t seed_setting() {
  return static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1));
}

TEST(Differential, InterpreterLlvmAndEvaluatorAgree) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_CASES", 500);
  Tally tally;
  run_cases(cases, seed_setting(), {}, {}, tally);
  tally.print();
  if (HasFatalFailure()) return;
  EXPECT_GT(tally.distinct.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GE(tally.programs.size(), kMinKinds);
  EXPECT_GT(tally.regions.touched, 1000);
  EXPECT_GT(tally.regions.equal, 1000);
  EXPECT_GT(tally.thread_buffers, 0);
  EXPECT_LT(tally.illegal_draws, tally.total * 2);
}

// Programs of their own: what LLVM says of them is the test above.
TEST(Differential, InterpreterAndCAgree) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_C", 60);
  Tally tally;
  std::optional<CBatch> batch;
  const auto finish = [&] {
    if (!batch) return;
    const auto problem = batch->check();
    batch.reset();
    ASSERT_FALSE(problem.has_value()) << *problem;
  };
  const auto collect = [&](const Task& task, Interpreted program, std::string description) {
    if (!batch) batch.emplace(task.target);
    batch->add(task.workload, std::move(program), std::move(description));
    if (batch->size() == kBatch) finish();
  };
  run_cases(cases, seed_setting() + 1'000'000, {.llvm = false}, collect, tally);
  finish();
  fmt::print("{} programs as C\n", tally.total);
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

// A failure again: TILEWRIGHT_DIFFERENTIAL_OPERATOR and ..._TRACE (a file) say which program.
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
