// The analytic model: estimates the time of a program from its rows and what one knows of machines,
// without having seen any measurement. It ranks the first candidates of a task.
//
//   time = sum over statements of
//            (the most of: arithmetic, its latency, loads and stores, gathers, instructions
//             + what waits for the second cache, the third, and memory)
//            x the share of the thread that has most to do
//          + the start of parallel loops and of their tasks
#pragma once

#include <memory>

#include "cost/model.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::cost {

// Cycles and bytes a cycle, of one core.
struct AnalyticConstants {
  double fma_per_cycle = 2;     // vectors; AMD's cores of AVX-512 take two cycles for 512 bits
  double loads_per_cycle = 2;   // vectors
  double stores_per_cycle = 1;  // vectors
  double latency = 4;           // of a multiply-add
  double issue = 4;             // instructions a cycle
  double gather = 1.5;          // an element that is taken on its own
  double div = 8;               // vectors of divisions
  double math = 20;             // vectors of exp, log and the like
  double spill = 2;             // a vector that does not fit the registers: stored and loaded
  double memory_sum = 6;        // a sum that is not kept in registers, beyond its load and store
  double branch = 12;           // the end of an innermost loop
  double step = 1;              // an iteration of it
  double l2_bytes = 32;         // a cycle, from the second cache
  double l3_bytes = 12;         // from the third
  double memory_bytes = 4;      // from memory
  double region = 4000;         // the start of a parallel loop
  double task = 150;            // the start of a task
  double code = 0.3;            // share by which code slows down that no instruction cache holds
};
AnalyticConstants analytic_constants(const Target& target, const Machine& machine);

std::unique_ptr<CostModel> make_analytic(const Task& task, const Machine& machine);
std::unique_ptr<CostModel> make_analytic(const AnalyticConstants& constants);

}  // namespace tilewright::cost
