// LoadedModel: a model ready to run: a compiled library, or a model file compiled in memory with
// the best schedules of the store. It owns everything that its api points to. Movable; used by one
// thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/runner.h"
#include "graph/constant.h"
#include "measure/model_arrays.h"
#include "runtime/host/model_library.h"

namespace tilewright::app {

// Instances are created from its api (runtime::make_instance) and must be destroyed before it.
class LoadedModel {
 public:
  // `choice.what` ends in .so, or is accepted by compile. A stop that is requested while a model
  // file is planned or compiled is an error.
  static Result<LoadedModel> load(const ModelChoice& choice, const Target& target,
                                  const std::string& records,
                                  const deploy::BackEndTables& tables = {},
                                  const StopToken& stop = {});

  const TilewrightModelApi& api() const { return *api_; }
  size_t untuned() const { return untuned_; }  // model file: number of kernels without a record
  const deploy::Program* program() const { return program_.get(); }  // null for a library

 private:
  std::unique_ptr<deploy::Program> program_;  // model file only
  std::optional<deploy::Runner> runner_;
  std::optional<runtime::ModelLibrary> library_;  // .so only
  const TilewrightModelApi* api_ = nullptr;
  size_t untuned_ = 0;
};

graph::TensorType type_of(const TilewrightTensorInfo& info);

// Inputs come from `NAME=FILE.npy`, each at most once, or FILE.npy if the model has one input. The
// other inputs are random if there is a seed (measure::fill_random), and an error otherwise.
Result<measure::ModelArrays> make_arrays(const TilewrightModelApi& api,
                                         const std::vector<std::string>& inputs,
                                         std::optional<uint64_t> seed);

}  // namespace tilewright::app
