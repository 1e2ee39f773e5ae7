#include "tally.h"

#include <fmt/format.h>

#include "schedule/program_hash.h"

namespace tilewright::testing {

void Tally::count(std::string_view kind, const schedule::LoopTree& tree,
                  const schedule::Trace& trace) {
  ++programs;
  ++kinds[kind];
  distinct.insert(schedule::program_hash(tree));
  for (const schedule::LoopVar& var : tree.vars) tails += var.is_split() && var.remainder != 0;
  for (const schedule::Step& step : trace.steps) {
    ++steps[std::visit([]<class S>(const S&) { return S::kTag; }, step)];
  }
}

std::string Tally::text() const {
  std::string out = fmt::format(
      "{} programs ({} distinct), {} illegal draws, {} splits with a remainder, {} failures\n{}\n"
      "{} elements compared with te/eval, {} without a bound on their rounding\n",
      programs, distinct.size(), illegal, tails, failures, regions.text(), compared, unbounded);
  for (const auto* counts : {&kinds, &steps}) {
    for (const auto& [name, count] : *counts) out += fmt::format("  {:<32}{}\n", name, count);
  }
  return out;
}

}  // namespace tilewright::testing
