// Timing of compiled models in a worker process: libraries are opened and run in turns by the run
// worker, so a library that crashes or hangs is an error here and never ends the caller. One worker
// process per call.
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
  std::filesystem::path workers{};                           // the folder of tilewright-run-worker
  double seconds = 1;                                        // of runs, for all libraries together
  double limit_s = std::numeric_limits<double>::infinity();  // the worker is killed after that
  int threads = 0;                  // 0: as many as each library was made for
  uint64_t seed = 1;                // of the inputs
  std::function<bool()> stop = {};  // polled while waiting: true ends it with an error
};

// One timing per library, in their order. An error says which library failed and how.
Result<std::vector<ModelTiming>> time_libraries(std::span<const std::filesystem::path> libraries,
                                                const ModelTimingOptions& options);

// The worker's side. `status` says which library is at work.
ModelsReply answer_models(const ModelsMessage& message, StatusBlock& status);

}  // namespace tilewright::measure
