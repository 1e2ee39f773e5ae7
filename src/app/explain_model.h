// explain_model: the kernels of a compiled model that lose most time against their limits on this
// machine, and what would help (docs/explain.md). It runs the model as bench does, in this process.
//
//   explain_model({.library = "resnet50.so"}, {})
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/kernel_losses.h"
#include "app/machine_rates.h"
#include "app/records.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"

namespace tilewright::app {

struct ExplainModelOptions {
  std::string library{};                  // ends in .so
  std::string records = kDefaultRecords;  // there may be no such file
  std::vector<std::string> inputs{};      // NAME=FILE.npy; the other inputs are random
  uint64_t random_seed = 1;               // of the other inputs
  int threads = 0;                        // 0: the number that it was compiled for
  double seconds = 3;  // of running the model; its ceilings take a third of it in addition
  size_t count = 10;   // kernels to explain
  deploy::BackEndTables tables{};  // that it was compiled with
};

// Ways to save time of a kernel. In a list, the most likely one is first.
enum class Remedy : uint8_t {
  NothingKnown,     // none of the others applies
  FewerBytes,       // it is at its limit, a bandwidth
  FewerFlop,        // it is at its limit, arithmetic
  FewerThreads,     // a call is short: their start is a large part of it
  Fuse,             // with a neighbor: it is elementwise
  Tune,             // it has its default schedule
  Compile,          // the same, but there are records of it
  TuneLonger,       // there are few trials of it
  SlowerThanTuned,  // it takes longer than when it was tuned
  Loops,            // the missing properties of its loops
};

// Records of a kernel in the store.
struct KernelRecords {
  size_t trials = 0;  // attempts at its task, by the back end of the model
  // Of these, the fastest one with its program, among those measured most like in a model.
  std::optional<Hash128> attempt;
  std::vector<std::string> limits{};  // of that program, by feature/limits.h; without it empty
};

struct ExplainedKernel {
  KernelLoss loss;
  Hash128 task;
  double tuned_ns = 0;  // of a call; 0: it has its default schedule
  KernelRecords records;
  std::vector<Remedy> remedies;  // at least one

  // A call compared with when it was tuned; 0: unknown.
  double slowdown() const { return tuned_ns > 0 ? loss.call_ns() / tuned_ns : 0; }
};

struct ExplainedModel {
  std::string name;
  int threads = 1;
  int compiled_threads = 1;
  MachineRates rates;
  double run_ns = 0;      // of a whole run, the median
  double kernels_ns = 0;  // sum over all kernels; also below
  double limit_ns = 0;
  double lost_ns = 0;
  size_t kernel_count = 0;
  size_t beyond = 0;  // kernels clearly faster than their limit
  // Largest loss first; without those that lose less than 0.1 % of the time of the kernels.
  std::vector<ExplainedKernel> kernels;

  double share_of(const ExplainedKernel& kernel) const { return kernel.loss.ns / kernels_ns; }
  double of_limit() const { return limit_ns / run_ns; }
  double listed_ns() const;  // lost by `kernels`
};

// Empty after a stop.
Result<std::optional<ExplainedModel>> explain_model(const ExplainModelOptions& options,
                                                    const StopToken& stop);

// Measurements of a model.
struct MeasuredModel {
  int threads = 1;
  double run_ns = 0;
  std::vector<double> steps_ns{};
  MachineRates rates{};
};
// The part of explain_model that measures nothing. `count`: of kernels. `back_end`: recorded name
// of the one that compiled it (codegen/back_ends/back_ends.h).
Result<ExplainedModel> explain_measured(const TilewrightModelApi& api, MeasuredModel measured,
                                        const std::string& records, size_t count,
                                        std::string_view back_end = {});

// `as_tuned`: `kernel` runs with the number of threads that it was tuned for.
struct RemedyFacts {
  int threads = 1;
  bool as_tuned = true;
  bool elementwise = false;
};
std::vector<Remedy> remedies_of(const ExplainedKernel& kernel, const RemedyFacts& facts);

}  // namespace tilewright::app
