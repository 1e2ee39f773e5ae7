// compile: compiles a model with the best schedules of the store into a library, an object or C
// source. Kernels without a record get their default schedule and are listed. docs/deployment.md.
//
//   CompileListener silent;
//   compile({.model = {.what = "resnet50.onnx"}, .output = "resnet50.so"}, silent, {});
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"

namespace tilewright::app {

struct CompileOptions {
  ModelChoice model{};
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::filesystem::path output{};  // ends in .so, .o or .c
  std::string name{};  // symbol of the model, a C identifier; empty: made of the stem of output
  bool external_weights = false;  // weights in a separate file next to the output, not inside it
  bool require_tuned = false;     // write nothing if a task has no record
  deploy::BackEndTables tables{};
};

class CompileListener {
 public:
  virtual ~CompileListener() = default;
  // `done` of `all` kernels are compiled. Called on any thread, one call at a time.
  virtual void on_kernel(size_t /*done*/, size_t /*all*/) {}
};

// A task that has no record.
struct UntunedTask {
  Hash128 key;
  std::string title;
  std::string note;  // names the nearest record, if there is one
};

// A step that computes a convolution by Winograd's algorithm. Rounding changes its sums by at most
// `bound` times the largest |input| of the step, and those of the direct convolution by at most
// `direct` times that (graph/winograd_error.h). Errors of that input, from earlier steps, are
// extra.
struct WinogradStep {
  Hash128 key;
  std::string title;
  double bound = 0, direct = 0;

  // 1 for equal bounds, such as those of zeros.
  double against_direct() const { return bound == direct ? 1 : bound / direct; }
};

struct CompileOutcome {
  bool written = false;              // false: stopped, or tasks are untuned under require_tuned
  bool stopped = false;              // by the token
  std::vector<UntunedTask> untuned;  // tasks with their default schedule
  std::vector<WinogradStep> winograd;
  size_t kernels = 0, steps = 0;
  int64_t constant_bytes = 0;
  int64_t arena_bytes = 0;  // memory of the values between kernels
  int64_t sum_bytes = 0;    // arena_bytes if no two values shared memory
  uint64_t file_bytes = 0;
  double seconds = 0;

  size_t tuned() const { return kernels - untuned.size(); }
  const WinogradStep* worst_winograd() const;  // with the largest bound; null: there is none
};

// A stop that is requested before the last kernel is compiled leaves no file.
Result<CompileOutcome> compile(const CompileOptions& options, CompileListener& listener,
                               const StopToken& stop);

}  // namespace tilewright::app
