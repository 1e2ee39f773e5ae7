#include "app/explained_program.h"

#include "schedule/apply.h"

namespace tilewright::app {

Result<ExplainedProgram> explain_program(const Task& task, const schedule::Trace& trace,
                                         const Machine& machine, const ProgramTiming& timing) {
  const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload));
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  ExplainedProgram program;
  program.loops = tree.to_string();
  program.instructions = schedule::estimated_instructions(tree, task.target.vector_bytes());
  program.traffic =
      feature::estimate_traffic(tree, feature::memory_levels(task.target, machine), timing.calls);
  program.facts = feature::nest_facts(tree, task.target);
  program.shares = feature::shares_of(program.traffic, timing.ceilings, timing.latency_ns);
  program.limits =
      feature::likely_limits(program.traffic, program.facts, task.target, program.shares);
  if (task.target.runs_on_cpu()) {
    program.levels_of = machine.model.empty() ? "an unknown machine" : machine.model;
  }
  return program;
}

double ExplainedProgram::flop_per_byte(const feature::MemoryLevel& level) const {
  return level.bytes > 0 ? traffic.flop / level.bytes : 0;
}

}  // namespace tilewright::app
