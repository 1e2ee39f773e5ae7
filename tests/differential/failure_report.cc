#include "failure_report.h"

#include <fmt/format.h>

#include "minimise.h"
#include "schedule/apply.h"

namespace tilewright::testing {

std::string failure_report(ProgramChecker& checker, const schedule::LoopTree& initial,
                           const schedule::Trace& trace, const CheckOptions& options,
                           const Failure& failure) {
  const auto still_fails = [&](const schedule::LoopTree& tree, const schedule::Trace& smaller) {
    const auto found = checker.check(tree, smaller, options);
    return found && found->kind == failure.kind;
  };
  const schedule::Trace least = minimise(initial, trace, still_fails);
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(initial, least);
  if (!tree) return tree.error().message;
  const auto found = checker.check(*tree, least, options);
  const Licences& licences = checker.task().workload.licences;
  return fmt::format("{}\noperator {}{}\nminimised trace\n{}loops\n{}whole trace\n{}",
                     found ? found->text : failure.text, checker.task().workload.text,
                     is_strict(licences) ? " (without the licences reassociate and contract)" : "",
                     to_text(least), tree->to_string(), to_text(trace));
}

}  // namespace tilewright::testing
