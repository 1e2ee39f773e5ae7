// All traces of up to three steps on tiny Dags: each legal one agrees with te/eval, with
// regions that hold, as a nest and fully lowered; each illegal one explains itself. Programs that
// are the same by their hash are run once, and some of them by LLVM too.
//
// By default all traces of two steps and some of three; TILEWRIGHT_EXHAUSTIVE=1 takes all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/check.h"
#include "base/rng.h"
#include "failure_report.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "schedule/program_hash.h"
#include "schedule/tree_editor.h"
#include "settings.h"
#include "step_choices.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using schedule::Illegal;
using schedule::LoopTree;
using schedule::Trace;

constexpr size_t kMaxSteps = 3;
constexpr uint64_t kLlvmEvery = 32;   // programs
constexpr double kThirdSteps = 6000;  // traces of three steps by default, about

struct TinyDag {
  const char* name;
  const char* text;
};

class ExhaustiveTest : public ::testing::TestWithParam<TinyDag> {
 protected:
  void SetUp() override {
    const Result<Workload> workload = parse_workload(GetParam().text);
    ASSERT_TRUE(workload.has_value()) << workload.error().message;
    checker_.emplace(Task{*workload, host_target(2)}, 1);
    initial_ = schedule::initial_tree(checker_->task().workload).value();
    const bool all = setting("TILEWRIGHT_EXHAUSTIVE", 0) != 0;
    share_ = all ? 1 : std::min(1.0, kThirdSteps / static_cast<double>(estimated_traces()));
  }

  // Extends a legal trace, whose structure is `tree`.
  void extend(const LoopTree& tree, Trace& trace) {
    const bool third = trace.steps.size() + 1 == kMaxSteps;
    for (const schedule::Step& step : step_choices(tree)) {
      if (third && share_ < 1 && !rng_.chance(share_)) continue;
      LoopTree next = tree;
      schedule::TreeEditor editor(next);
      editor.set_step(static_cast<int16_t>(trace.steps.size()));
      const Illegal refused =
          std::visit([&](const auto& s) { return apply_step(editor, s); }, step);
      trace.steps.push_back(step);
      check(trace, refused);
      if (!refused && !third) extend(next, trace);
      trace.steps.pop_back();
      if (failures_ >= max_failures_) return;
    }
  }

  // `refused`: the last step does not apply.
  void check(const Trace& trace, const Illegal& refused) {
    ++traces_;
    try {
      LoopTree tree;
      const Illegal illegal = schedule::apply(initial_, trace, &tree);
      if (refused && refused != illegal) return fail("another step is refused", trace);
      illegal ? check_explanation(trace, illegal) : check_program(trace, tree);
    } catch (const InternalError& error) {
      fail(error.what(), trace);
    }
  }

  void check_program(const Trace& trace, const LoopTree& tree) {
    ++legal_;
    const Hash128 hash = schedule::program_hash(tree);
    if (!programs_.insert(hash).second) return;
    const CheckOptions options{.compiled = hash.low % kLlvmEvery == 0};
    compiled_ += options.compiled ? 1 : 0;
    const auto failure = checker_->check(tree, trace, options);
    if (failure) fail(failure_report(*checker_, initial_, trace, options, *failure), trace);
  }

  void check_explanation(const Trace& trace, const Illegal& illegal) {
    const std::string text = schedule::explain(initial_, trace, illegal);
    const bool names_step =
        illegal.step < 0 ||
        text.find(to_text(trace.steps[static_cast<size_t>(illegal.step)])) != std::string::npos;
    const bool explains = text.starts_with("illegal ") && text.find("unknown") == std::string::npos;
    if (!explains || !names_step) fail("the explanation is `" + text + "`", trace);
  }

  void fail(const std::string& problem, const Trace& trace) {
    ++failures_;
    ADD_FAILURE() << problem << "\n" << GetParam().text << "\n" << to_text(trace);
  }

  int64_t estimated_traces() const {
    const auto steps = static_cast<int64_t>(step_choices(initial_).size());
    return steps * steps * steps / 2;
  }

  std::optional<ProgramChecker> checker_;
  LoopTree initial_;
  Rng rng_{1};
  double share_ = 1;
  std::set<Hash128> programs_;
  int64_t traces_ = 0, legal_ = 0, compiled_ = 0, failures_ = 0;
  const int64_t max_failures_ = setting("TILEWRIGHT_DIFFERENTIAL_FAILURES", 1);
};

TEST_P(ExhaustiveTest, AllTracesOfUpToThreeSteps) {
  Trace trace;
  check(trace, {});
  extend(initial_, trace);
  fmt::print("{}: {} traces, {} legal, {} distinct programs, {} by LLVM; {}\n", GetParam().name,
             traces_, legal_, programs_.size(), compiled_, checker_->regions().text());
  EXPECT_GT(programs_.size(), HasFailure() ? 0u : 500u);
}

INSTANTIATE_TEST_SUITE_P(
    TinyDags, ExhaustiveTest,
    ::testing::Values(TinyDag{"matmul", "matmul:m=3,n=2,k=2,constant=B"},
                      TinyDag{"padded_conv1d", "conv1d:l=3,ci=1,co=2,kernel=2,pad=1"},
                      TinyDag{"grouped_conv1d", "conv1d:l=3,ci=2,co=4,kernel=1,groups=2"},
                      TinyDag{"chain", "elementwise:shape=2x3,chain=relu+bias"},
                      TinyDag{"argmax", "reduce:op=argmax,shape=2x3,axes=1"},
                      TinyDag{"softmax", "softmax:m=2,n=3"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::testing
