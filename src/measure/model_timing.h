// Times compiled models in a worker process: the run worker opens the libraries and runs them in
// alternation. A library that crashes or hangs is an error here and never ends the caller. One
// worker process per call.
//
//   time_libraries({"a.so", "b.so"}, {.workers = folder, .seconds = 2})
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/messages.h"
#include "measure/model_clock.h"
#include "measure/status_block.h"

namespace tilewright::measure {

struct ModelTimingOptions {
  std::filesystem::path workers{};                           // folder of tilewright-run-worker
  double seconds = 1;                                        // run time, total of all libraries
  double limit_s = std::numeric_limits<double>::infinity();  // the worker is killed after this time
  int threads = 0;                  // 0: the number that each library was compiled for
  uint64_t seed = 1;                // seed of the inputs
  std::function<bool()> stop = {};  // polled while waiting: true ends the call with an error
};

// One timing per library, in order. An error says which library failed and how.
Result<std::vector<ModelTiming>> time_libraries(std::span<const std::filesystem::path> libraries,
                                                const ModelTimingOptions& options);

// The worker's part. `status` names the library that is running.
ModelsReply answer_models(const ModelsMessage& message, StatusBlock& status);

}  // namespace tilewright::measure
