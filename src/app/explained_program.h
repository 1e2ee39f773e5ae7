// explain_program: the loop nest of a trace, the bytes that it moves between the memory levels of a
// machine, its position relative to the ceilings, and the likely limits (docs/explain.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "feature/limits.h"
#include "schedule/trace.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::app {

// The program of a trace that applies.
struct ExplainedProgram {
  std::string loops;  // LoopTree::to_string
  int64_t instructions = 0;
  feature::Traffic traffic;
  feature::NestFacts facts;
  std::vector<feature::Share> shares;  // empty without a latency
  std::vector<std::string> limits;
  std::string levels_of;  // the machine whose caches are the levels; empty: those of a device

  double flop_per_byte(const feature::MemoryLevel& level) const;  // 0: nothing is moved
};

// Known facts about runs of a program.
struct ProgramTiming {
  feature::Ceilings ceilings{};
  double latency_ns = 0;  // 0: unknown
  feature::Calls calls = feature::Calls::First;
};

// The caches of `machine` are the levels of a CPU's code. An error if the trace does not apply.
Result<ExplainedProgram> explain_program(const Task& task, const schedule::Trace& trace,
                                         const Machine& machine, const ProgramTiming& timing);

}  // namespace tilewright::app
