// RandomPrograms: draws random operators under random legal schedules for one target and checks
// them with the back end of a table that serves it, until there are enough of them, or of failures.
// A failure is a failure of the running test. Not thread-safe.
//
//   RandomPrograms programs(seed_setting(), {.target = target, .rows = rows});
//   programs.run(50);
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/rng.h"
#include "codegen/back_ends/back_ends.h"
#include "program_check.h"
#include "random_workload.h"
#include "tally.h"
#include "target/target.h"

namespace tilewright::testing {

uint64_t seed_setting();  // TILEWRIGHT_DIFFERENTIAL_SEED

struct RandomProgramOptions {
  Target target = host_target(2);
  std::span<const codegen::BackEnd> rows = codegen::all_back_ends();
  bool compiled = true;  // otherwise the programs are only lowered and interpreted
};

class RandomPrograms {
 public:
  using Filter =
      std::function<bool(const Task&, const schedule::LoopTree&, const schedule::Trace&)>;
  // A program that the interpreter has run; a checker made of task and seed checks it again.
  struct Drawn {
    Task task;
    uint64_t seed;
    schedule::Trace trace;
  };
  using Consumer = std::function<void(Drawn, Interpreted)>;

  explicit RandomPrograms(uint64_t seed, const RandomProgramOptions& options = {});

  void set_kind(const WorkloadKind* kind) { kind_ = kind; }  // draw nothing else
  void set_parts() { parts_ = true; }                        // operands are parts of larger arrays
  void set_filter(Filter filter) { filter_ = std::move(filter); }  // check only these
  void set_consumer(Consumer consumer) { consumer_ = std::move(consumer); }

  void run(int64_t programs);

  const Tally& tally() const { return tally_; }

 private:
  void run_sketch(int64_t programs);
  void check(ProgramChecker& checker, uint64_t seed, const schedule::LoopTree& initial,
             const schedule::LoopTree& tree, const schedule::Trace& trace);

  Rng rng_;
  Target target_;
  CheckOptions options_;
  const WorkloadKind* kind_ = nullptr;
  bool parts_ = false;
  Filter filter_;
  Consumer consumer_;
  Tally tally_;
};

}  // namespace tilewright::testing
