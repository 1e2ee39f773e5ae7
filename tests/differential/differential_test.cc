// Random operators under random legal schedules: interpreter = LLVM = te/eval, and regions contain
// every element that was touched. TILEWRIGHT_DIFFERENTIAL_CASES and ..._SEED widen the run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "program_check.h"
#include "random_sketch.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT: tests run single-threaded here
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST(Differential, InterpreterLlvmAndEvaluatorAgree) {
  const int64_t cases = setting("TILEWRIGHT_DIFFERENTIAL_CASES", 300);
  const auto seed = static_cast<uint64_t>(setting("TILEWRIGHT_DIFFERENTIAL_SEED", 1));
  Rng rng(seed);
  RegionCount regions;
  int64_t done = 0;
  int64_t illegal = 0;
  int64_t tails = 0;
  std::set<std::string> programs;
  std::map<schedule::IllegalCode, int> codes;
  while (done < cases) {
    const Task task{random_workload(rng), host_target(2)};
    const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
    ASSERT_TRUE(initial.has_value()) << initial.error().message;
    const schedule::Sketch sketch = random_sketch(task.workload, rng);
    schedule::Trace trace;
    schedule::LoopTree tree;
    for (int genome = 0; genome < 4 && done < cases; ++genome) {
      schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
      if (const schedule::Illegal reason = schedule::apply(*initial, trace, &tree)) {
        ++illegal;
        ++codes[reason.code];
        const std::string text = schedule::explain(*initial, trace, reason);
        ASSERT_FALSE(text.empty());
        continue;
      }
      ++done;
      programs.insert(schedule::program_hash(tree).hex());
      for (const schedule::LoopVar& var : tree.vars) tails += var.is_split() && var.remainder != 0;
      const auto problem = check_program(task, tree, trace, rng.next(), &regions);
      ASSERT_FALSE(problem.has_value())
          << "case " << done << " of seed " << seed << ": " << *problem;
    }
  }
  fmt::print(
      "{} programs ({} distinct), {} illegal draws, {} splits with a remainder, {} region checks\n",
      done, programs.size(), illegal, tails, regions.checked);
  for (const auto& [code, count] : codes)
    fmt::print("  illegal code {}: {}\n", static_cast<int>(code), count);
  EXPECT_GT(programs.size(), static_cast<size_t>(cases) / 2);
  EXPECT_GT(regions.checked, 1000);
}

// A failure again: TILEWRIGHT_DIFFERENTIAL_OPERATOR and ..._TRACE (a file) say which program.
TEST(Differential, GivenProgram) {
  const char* text = std::getenv("TILEWRIGHT_DIFFERENTIAL_OPERATOR");  // NOLINT: as above
  const char* file = std::getenv("TILEWRIGHT_DIFFERENTIAL_TRACE");     // NOLINT: as above
  if (text == nullptr || file == nullptr) GTEST_SKIP() << "no program given";
  const Result<Workload> workload = parse_workload(text);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Result<std::string> content = read_file(file);
  ASSERT_TRUE(content.has_value()) << content.error().message;
  const Result<schedule::Trace> trace = schedule::trace_from_text(*content);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Result<schedule::LoopTree> initial = schedule::initial_tree(*workload);
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, *trace);
  ASSERT_TRUE(tree.has_value()) << tree.error().message;
  RegionCount regions;
  const auto problem = check_program({*workload, host_target(2)}, *tree, *trace, 1, &regions);
  EXPECT_FALSE(problem.has_value()) << *problem;
}

}  // namespace
}  // namespace tilewright::testing
