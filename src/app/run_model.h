// run_model: runs a compiled model or a model file once, summarizes its outputs, and writes them as
// .npy files if a folder is given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "graph/graph.h"

namespace tilewright::app {

struct RunOptions {
  ModelChoice model{};  // its `what` may be a .so
  TargetChoice target{};
  std::string records = kDefaultRecords;
  std::vector<std::string> inputs{};      // NAME=FILE.npy, or FILE.npy if the model has one input
  std::string output{};                   // folder for the outputs; empty: do not write them
  std::optional<uint64_t> random_seed{};  // of the other inputs; none: all inputs must be given
  deploy::BackEndTables tables{};
};

// Range and sum of the elements of a tensor, with NaN counted separately.
struct Digest {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  int64_t numbers = 0, nans = 0;

  double mean() const { return sum / static_cast<double>(numbers); }
};

struct RunOutput {
  std::string name;
  graph::TensorType type;
  Digest digest;
  std::filesystem::path file;  // empty: not written
};

struct RunOutcome {
  std::vector<RunOutput> outputs;
  bool stopped = false;  // before the model ran, so there are no outputs
};

// A stop takes effect while a model file is planned or compiled, not while the model runs.
Result<RunOutcome> run_model(const RunOptions& options, const StopToken& stop);

}  // namespace tilewright::app
