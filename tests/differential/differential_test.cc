// Random operators under random legal schedules: interpreter = LLVM = C = te/eval, and regions
// hold every element that was touched, exactly where they say so. These widen the run:
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
#include "random_sketch.h"
#include "random_workload.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "settings.h"
#include "tally.h"
#include "task/parse.h"
#include "te/ops/table.h"

namespace tilewright::testing {
namespace {

constexpr int kPrograms = 4;   // of one sketch ...
constexpr int kDraws = 12;     // ... in so many draws
constexpr size_t kBatch = 40;  // programs of one C source
constexpr size_t kMinKinds = 25;

uint64_t seed_setting() {
  return static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1));
}

// Draws programs and checks them until there are enough of them, or of failures.
class RandomPrograms {
 public:
  using Filter =
      std::function<bool(const Task&, const schedule::LoopTree&, const schedule::Trace&)>;
  // A program that the interpreter has run; a checker made of task and seed checks it again.
  struct Drawn {
    Task task;
    uint64_t seed;
    schedule::Trace trace;
  };
  using Consumer = std::function<void(Drawn, Interpreted)>;

  RandomPrograms(uint64_t seed, CheckOptions options) : rng_(seed), options_(options) {}

  void set_kind(const WorkloadKind* kind) { kind_ = kind; }  // draw nothing else
  void set_parts() { parts_ = true; }                        // operands are parts of larger arrays
  void set_filter(Filter filter) { filter_ = std::move(filter); }  // check only these
  void set_consumer(Consumer consumer) { consumer_ = std::move(consumer); }

  void run(int64_t programs) {
    const int64_t max_failures = setting("TILEWRIGHT_DIFFERENTIAL_FAILURES", 1);
    while (tally_.programs < programs && tally_.failures < max_failures) run_sketch(programs);
  }

  const Tally& tally() const { return tally_; }

 private:
  void run_sketch(int64_t programs) {
    const WorkloadKind& kind = kind_ != nullptr ? *kind_ : random_kind(rng_);
    Workload drawn = random_workload(kind, rng_);
    if (parts_) drawn = with_parts(drawn, rng_);
    const uint64_t seed = rng_.next();
    ProgramChecker checker({drawn, host_target(2)}, seed);
    const Workload& workload = checker.task().workload;
    const schedule::LoopTree initial = schedule::initial_tree(workload).value();
    const schedule::Sketch sketch = random_sketch(workload, rng_);
    schedule::Trace trace;
    schedule::LoopTree tree;
    const int64_t enough = std::min(programs, tally_.programs + kPrograms);
    for (int draw = 0; draw < kDraws && tally_.programs < enough; ++draw) {
      schedule::instantiate(sketch, schedule::sample(sketch, rng_), &trace);
      if (const schedule::Illegal reason = schedule::apply(initial, trace, &tree)) {
        ++tally_.illegal;
        EXPECT_TRUE(schedule::explain(initial, trace, reason).starts_with("illegal "));
      } else if (!filter_ || filter_(checker.task(), tree, trace)) {
        tally_.count(kind.name, tree, trace);
        check(checker, seed, initial, tree, trace);
      }
    }
    tally_.regions.add(checker.regions());
    tally_.compared += checker.compared();
    tally_.unbounded += checker.unbounded();
  }

  void check(ProgramChecker& checker, uint64_t seed, const schedule::LoopTree& initial,
             const schedule::LoopTree& tree, const schedule::Trace& trace) {
    Interpreted interpreted;
    options_.interpreted = &interpreted;
    const auto failure = checker.check(tree, trace, options_);
    options_.interpreted = nullptr;
    if (failure) {
      ++tally_.failures;
      ADD_FAILURE() << "case " << tally_.programs << ": "
                    << failure_report(checker, initial, trace, options_, *failure);
    } else if (consumer_) {
      consumer_({checker.task(), seed, trace}, std::move(interpreted));
    }
  }

  Rng rng_;
  CheckOptions options_;
  const WorkloadKind* kind_ = nullptr;
  bool parts_ = false;
  Filter filter_;
  Consumer consumer_;
  Tally tally_;
};

TEST(Differential, InterpreterLlvmAndEvaluatorAgree) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_CASES", 500);
  RandomPrograms programs(seed_setting(), {});
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
  RandomPrograms programs(seed_setting() + 1, {});
  programs.set_parts();
  programs.run(cases);
  const Tally& tally = programs.tally();
  if (HasFailure()) return;
  EXPECT_GT(tally.distinct.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GE(tally.kinds.size(), kMinKinds);
}

// Programs of their own: what LLVM says of them is the test above.
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
  RandomPrograms programs(seed_setting(), {});
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
