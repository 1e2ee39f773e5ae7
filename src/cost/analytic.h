// The analytic model: estimates the time of a program from its feature rows and constants of the
// machine, without any measurement. It ranks the first candidates of a task.
//
//   time = sum over statements of the larger of
//            its instructions: arithmetic, loads and stores, or the latency of dependent updates
//            its traffic between caches
//          in the busiest thread, plus the start of parallel loops
//
// The constants are those of the kind of machine. Constants that no manual documents (spills,
// accumulators in memory, loop ends) are round numbers close to those that rank measured programs
// best.
#pragma once

#include <memory>

#include "cost/models.h"
#include "target/machine.h"

namespace tilewright::cost {

// Cycles, and bytes per cycle, of one core.
struct AnalyticConstants {
  double fma = 2;          // vectors per cycle
  double loads = 2;        // vectors per cycle
  double stores = 1;       // vectors per cycle
  double issue = 3;        // instructions per cycle
  double latency = 4;      // of a multiply-add
  double broadcast = 0.5;  // cost relative to a load
  double gather = 4;       // per element that a lane gathers
  double division = 4;     // cost of a division in multiply-adds
  double math = 20;        // cost of exp, log, etc. in multiply-adds
  double guard = 0.1;      // cost of an index operation of a copy; 0 in reductions
  double rest = 0.2;  // share of the costs that are not the bottleneck and still add to the time
  double spill = 6;   // per vector that does not fit the registers
  double sum_in_memory = 6;   // per update of an accumulator that is not in a register
  double sum_conflict = 0.1;  // added per accumulator in flight with it
  double odd_vector = 2;      // factor for lanes that are not whole vectors
  double large_code = 2;      // factor for a body that exceeds the instruction cache
  double step = 0.6;          // per iteration of the innermost loop
  double loop_end = 4;        // per exit of that loop
  double l2_bytes = 28;       // bytes per cycle between L1 and L2
  double l3_bytes = 12;       // between L2 and L3
  double memory_bytes = 6;    // between L3 and memory
  double streamed_bytes = 5;  // of non-temporal stores
  double hidden = 0.9;        // hidden share of the smaller of work and traffic
  double region = 5000;       // per start of a parallel loop
  double task = 10;           // per parallel task
};
AnalyticConstants analytic_constants(const Target& target, const Machine& machine);

std::unique_ptr<CostModel> make_analytic(const Target& target, const Machine& machine);
std::unique_ptr<CostModel> make_analytic(const AnalyticConstants& constants);

ModelRow analytic_model();

}  // namespace tilewright::cost
