#include "failure_report.h"

#include <fmt/format.h>

#include "minimize.h"
#include "schedule/apply.h"

namespace tilewright::testing {
namespace {

// The fault of a program, if it has the one that is searched for.
using Problem =
    std::function<std::optional<std::string>(const schedule::LoopTree&, const schedule::Trace&)>;

std::string minimized_report(const Workload& workload, const schedule::LoopTree& initial,
                             const schedule::Trace& trace, const Problem& problem) {
  const auto still_fails = [&](const schedule::LoopTree& tree, const schedule::Trace& smaller) {
    return problem(tree, smaller).has_value();
  };
  const schedule::Trace minimal = minimize(initial, trace, still_fails);
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(initial, minimal);
  if (!tree) return tree.error().message;
  return fmt::format(
      "{}\noperator {}{}\nminimized trace\n{}loops\n{}whole trace\n{}",
      problem(*tree, minimal).value_or("it does not fail again"), workload.text,
      is_strict(workload.permissions) ? " (without the permissions reassociate and contract)" : "",
      to_text(minimal), tree->to_string(), to_text(trace));
}

}  // namespace

std::string failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                           const schedule::Trace& trace, const CheckOptions& options,
                           const Failure& failure) {
  const Problem problem = [&](const schedule::LoopTree& tree, const schedule::Trace& smaller) {
    const auto found = checker.check(tree, smaller, options);
    return found && found->kind == failure.kind ? std::optional(found->text) : std::nullopt;
  };
  return minimized_report(checker.task().workload, initial, trace, problem);
}

std::string c_failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                             const schedule::Trace& trace) {
  const Task& task = checker.task();
  const Problem problem = [&](const schedule::LoopTree& tree,
                              const schedule::Trace& smaller) -> std::optional<std::string> {
    Interpreted interpreted;
    if (checker.check(tree, smaller, {.compiled = false, .interpreted = &interpreted})) return {};
    BackEndBatch alone(task.target);
    alone.add(task.workload, std::move(interpreted));
    const auto failure = alone.check();
    return failure ? std::optional(failure->text) : std::nullopt;
  };
  return minimized_report(task.workload, initial, trace, problem);
}

}  // namespace tilewright::testing
