// A model that can be run: a compiled library, or a model file compiled in memory with the best
// schedules of the records. And the arrays that it is run on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/model_choice.h"
#include "deploy/model_library.h"
#include "deploy/program.h"
#include "graph/constant.h"
#include "runtime/host/buffer.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// An error for flags that mean nothing for what is loaded, and where a store was named that does
// not exist. `shapes_are_used`: for something else than the model.
Status check_model_flags(const CLI::App& app, const ModelChoice& choice, const std::string& records,
                         bool shapes_are_used);

// Instances are made of its api (deploy::make_instance) and end before it.
class LoadedModel {
 public:
  // `choice.what` ends in .so, or is what compile takes.
  static Result<LoadedModel> load(const ModelChoice& choice, const Target& target,
                                  const std::string& records);

  const TilewrightModelApi& api() const { return *api_; }
  size_t untuned() const { return untuned_; }  // of a model file: kernels without a record
  const deploy::Program* program() const { return program_.get(); }  // of a model file; else null

 private:
  std::unique_ptr<deploy::Program> program_;  // of a model file
  std::optional<deploy::Runner> runner_;
  std::optional<deploy::ModelLibrary> library_;  // of a .so
  const TilewrightModelApi* api_ = nullptr;
  size_t untuned_ = 0;
};

graph::TensorType type_of(const TilewrightTensorInfo& info);

// Arrays for the inputs and outputs of a model, aligned as kernels like it.
struct ModelArrays {
  std::vector<runtime::AlignedBuffer> inputs, outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
};
// Inputs from `NAME=FILE.npy`, each once, or FILE.npy where there is one input; what is not given
// is random by the seed (integers in [0, 2)) if there is one, and an error otherwise.
Result<ModelArrays> make_arrays(const TilewrightModelApi& api,
                                const std::vector<std::string>& inputs,
                                std::optional<uint64_t> seed);

}  // namespace tilewright::cli
