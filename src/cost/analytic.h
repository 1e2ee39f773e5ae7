// The analytic model: estimates the time of a program from its rows and what one knows of machines,
// without having seen any measurement. It ranks the first candidates of a task.
//
//   time = sum over statements of the larger of
//            its instructions: arithmetic, loads and stores, or the wait of sums for each other
//            the bytes that it moves between caches
//          in the thread that has most of it, and the start of parallel loops
//
// The constants are those of the machine's kind, and for what no manual says (spilled registers,
// sums in memory, the ends of loops) round numbers near those that rank measured programs best.
#pragma once

#include <memory>

#include "cost/models.h"
#include "target/machine.h"

namespace tilewright::cost {

// Cycles and bytes a cycle, of one core.
struct AnalyticConstants {
  double fma = 2;             // vectors a cycle
  double loads = 2;           // vectors a cycle
  double stores = 1;          // vectors a cycle
  double issue = 3;           // instructions a cycle
  double latency = 4;         // of a multiply-add
  double broadcast = 0.5;     // of a load
  double gather = 4;          // an element that lanes take on its own
  double division = 4;        // multiply-adds that a division is worth
  double math = 20;           // that an exp, log and the like is worth
  double guard = 0.1;         // that an index operation of a copy is worth; of sums, nothing
  double rest = 0.2;          // of what is not the limit, the share that is not hidden
  double spill = 6;           // a vector that the registers do not hold
  double sum_in_memory = 6;   // an update of a sum that is not kept in a register
  double sum_conflict = 0.1;  // and for each of those that are in flight with it
  double odd_vector = 2;      // times, for lanes that are no whole vectors
  double large_code = 2;      // times, for a body that no instruction cache holds
  double step = 0.6;          // an iteration of the innermost loop
  double loop_end = 4;        // the end of that loop
  double l2_bytes = 28;       // a cycle, between the first and the second cache
  double l3_bytes = 12;       // between the second and the third
  double memory_bytes = 6;    // between the third and memory
  double streamed_bytes = 5;  // of stores past the caches
  double hidden = 0.9;        // of the smaller of work and traffic
  double region = 5000;       // the start of a parallel loop
  double task = 10;           // of a task
};
AnalyticConstants analytic_constants(const Target& target, const Machine& machine);

std::unique_ptr<CostModel> make_analytic(const Target& target, const Machine& machine);
std::unique_ptr<CostModel> make_analytic(const AnalyticConstants& constants);

ModelRow analytic_model();

}  // namespace tilewright::cost
