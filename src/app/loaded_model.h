// LoadedModel: a model that can be run: a compiled library, or a model file compiled in memory with
// the best schedules of the records; and the arrays that it is run on. It owns what its api points
// to. Movable; for one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "base/result.h"
#include "deploy/runner.h"
#include "graph/constant.h"
#include "measure/model_arrays.h"
#include "runtime/host/model_library.h"

namespace tilewright::app {

// Instances are made of its api (runtime::make_instance) and end before it.
class LoadedModel {
 public:
  // `choice.what` ends in .so, or is what compile takes.
  static Result<LoadedModel> load(const ModelChoice& choice, const Target& target,
                                  const std::string& records,
                                  const deploy::BackEndTables& tables = {});

  const TilewrightModelApi& api() const { return *api_; }
  size_t untuned() const { return untuned_; }  // of a model file: kernels without a record
  const deploy::Program* program() const { return program_.get(); }  // of a model file; else null

 private:
  std::unique_ptr<deploy::Program> program_;  // of a model file
  std::optional<deploy::Runner> runner_;
  std::optional<runtime::ModelLibrary> library_;  // of a .so
  const TilewrightModelApi* api_ = nullptr;
  size_t untuned_ = 0;
};

graph::TensorType type_of(const TilewrightTensorInfo& info);

// Inputs from `NAME=FILE.npy`, each once, or FILE.npy where there is one input. Other inputs are
// random by the seed where there is one (measure::fill_random), and an error otherwise.
Result<measure::ModelArrays> make_arrays(const TilewrightModelApi& api,
                                         const std::vector<std::string>& inputs,
                                         std::optional<uint64_t> seed);

}  // namespace tilewright::app
