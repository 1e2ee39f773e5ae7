#include "app/loaded_model.h"

#include <fmt/format.h>

#include <cstring>

#include "app/npy.h"
#include "base/rng.h"

namespace tilewright::app {
namespace {

std::string names_of(const TilewrightModelApi& api) {
  std::string names;
  for (int32_t k = 0; k < api.input_count; ++k) {
    names += fmt::format("{}{} {}", k > 0 ? ", " : "", api.inputs[k].name,
                         type_of(api.inputs[k]).to_string());
  }
  return names;
}

// The input that a word names, and its file.
Result<std::pair<int32_t, std::string>> input_of(const TilewrightModelApi& api,
                                                 const std::string& word) {
  for (int32_t k = 0; k < api.input_count; ++k) {
    const std::string begin = std::string(api.inputs[k].name) + "=";
    if (word.starts_with(begin)) return std::pair(k, word.substr(begin.size()));
  }
  if (api.input_count == 1 && word.find('=') == std::string::npos) return std::pair(0, word);
  return fail(ErrorKind::BadInput,
              fmt::format("input {}: give NAME=FILE.npy, NAME one of the model's inputs: {}", word,
                          names_of(api)));
}

}  // namespace

graph::TensorType type_of(const TilewrightTensorInfo& info) {
  return {.element = measure::scalar_of(info.type), .shape = {info.shape, info.shape + info.rank}};
}

Result<LoadedModel> LoadedModel::load(const ModelChoice& choice, const Target& target,
                                      const std::string& records,
                                      const deploy::BackEndTables& tables, const StopToken& stop) {
  LoadedModel loaded;
  if (is_library(choice.what)) {
    loaded.library_ = TRY(runtime::ModelLibrary::open(choice.what));
    loaded.api_ = &loaded.library_->api();
    return loaded;
  }
  const auto [plan, choices] = TRY(choose_model(choice, target, records, tables, stop));
  for (const deploy::Choice& one : choices) loaded.untuned_ += one.record ? 0 : 1;
  loaded.program_ = std::make_unique<deploy::Program>(TRY(
      deploy::compile_model(plan, choices, target, {.stop = stop, .back_ends = tables.back_ends})));
  loaded.runner_ = TRY(deploy::Runner::load(*loaded.program_, tables.loaders));
  loaded.api_ = &loaded.runner_->api();
  return loaded;
}

Result<measure::ModelArrays> make_arrays(const TilewrightModelApi& api,
                                         const std::vector<std::string>& inputs,
                                         std::optional<uint64_t> seed) {
  std::vector<std::string> files(static_cast<size_t>(api.input_count));
  for (const std::string& word : inputs) {
    const auto [input, name] = TRY(input_of(api, word));
    std::string& file = files[static_cast<size_t>(input)];
    if (name.empty() || !file.empty()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("input {}: {}", word,
                              name.empty() ? "there is no file name after the ="
                                           : "that input is given twice"));
    }
    file = name;
  }
  measure::ModelArrays arrays = measure::allocate_arrays(api);
  Rng rng(seed.value_or(0));
  for (size_t k = 0; k < files.size(); ++k) {
    const TilewrightTensorInfo& info = api.inputs[k];
    const graph::TensorType type = type_of(info);
    if (!files[k].empty()) {
      const graph::Constant array = TRY(read_npy(files[k], type.element));
      if (array.type() != type) {
        return fail(ErrorKind::BadInput,
                    fmt::format("{}: the input {} is {}, but the file has {}", files[k], info.name,
                                type.to_string(), array.type().to_string()));
      }
      std::memcpy(arrays.inputs[k].data(), array.bytes().data(), array.bytes().size());
    } else if (seed) {
      measure::fill_random(info, arrays.inputs[k], rng);
    } else {
      return fail(ErrorKind::BadInput,
                  fmt::format("the input {} ({}) is missing: give its values, or a seed that all "
                              "missing inputs are drawn with",
                              info.name, type.to_string()),
                  {{"inputs", fmt::format("{}=FILE.npy", info.name)}, {"random_seed", "SEED"}});
    }
  }
  return arrays;
}

}  // namespace tilewright::app
