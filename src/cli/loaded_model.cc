#include "cli/loaded_model.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "base/rng.h"
#include "cli/flag_checks.h"
#include "cli/npy.h"
#include "cli/records_common.h"
#include "ir/element.h"

namespace tilewright::cli {
namespace {

ir::Scalar scalar_of(TilewrightDataType type) {
  const bool wide = type.bits == 64;
  switch (type.code) {
    case 0:
      return wide              ? ir::Scalar::I64
             : type.bits == 32 ? ir::Scalar::I32
             : type.bits == 16 ? ir::Scalar::I16
                               : ir::Scalar::I8;
    case 1:
      return ir::Scalar::U8;
    case 4:
      return ir::Scalar::BF16;
    case 6:
      return ir::Scalar::Bool;
    default:
      return wide ? ir::Scalar::F64 : type.bits == 32 ? ir::Scalar::F32 : ir::Scalar::F16;
  }
}

// Floats in [-1, 1), integers and truth values in [0, 2).
void fill(runtime::AlignedBuffer& buffer, const graph::TensorType& type, Rng& rng) {
  for (int64_t k = 0; k < type.elements(); ++k) {
    const double value =
        ir::is_float(type.element) ? 2 * rng.uniform() - 1 : static_cast<double>(rng.below(2));
    ir::write_element(buffer.as<std::byte>(), type.element, k, value);
  }
}

std::string names_of(const TilewrightModelApi& api) {
  std::string names;
  for (int32_t k = 0; k < api.input_count; ++k) {
    names += fmt::format("{}{} {}", k > 0 ? ", " : "", api.inputs[k].name,
                         type_of(api.inputs[k]).to_string());
  }
  return names;
}

// The input that a word is for, and its file.
Result<std::pair<int32_t, std::string>> input_of(const TilewrightModelApi& api,
                                                 const std::string& word) {
  for (int32_t k = 0; k < api.input_count; ++k) {
    const std::string begin = std::string(api.inputs[k].name) + "=";
    if (word.starts_with(begin)) return std::pair(k, word.substr(begin.size()));
  }
  if (api.input_count == 1 && word.find('=') == std::string::npos) return std::pair(0, word);
  return fail(ErrorKind::BadInput,
              fmt::format("--input {}: give NAME=FILE.npy, NAME one of the model's inputs: {}",
                          word, names_of(api)));
}

}  // namespace

Status check_model_flags(const CLI::App& app, const ModelChoice& choice, const std::string& records,
                         bool shapes_are_used) {
  if (!is_library(choice.what)) return check_named_records(app, records);
  constexpr std::string_view kWhy =
      "is not for a compiled model: that was decided when it was compiled";
  if (!shapes_are_used) {
    if (Status refused = refuse_flags(app, {"--input-shapes"}, kWhy); !refused) return refused;
  }
  return refuse_flags(app, {"--target", "--records", "--passes-off", "--allow"}, kWhy);
}

graph::TensorType type_of(const TilewrightTensorInfo& info) {
  return {.element = scalar_of(info.type), .shape = {info.shape, info.shape + info.rank}};
}

Result<LoadedModel> LoadedModel::load(const ModelChoice& choice, const Target& target,
                                      const std::string& records) {
  LoadedModel loaded;
  if (is_library(choice.what)) {
    Result<deploy::ModelLibrary> library = deploy::ModelLibrary::open(choice.what);
    if (!library) return std::unexpected(library.error());
    loaded.library_ = *std::move(library);
    loaded.api_ = &loaded.library_->api();
    return loaded;
  }
  const Result<ChosenModel> chosen = choose_model(choice, target, records);
  if (!chosen) return std::unexpected(chosen.error());
  const auto& [plan, choices] = *chosen;
  for (const deploy::Choice& one : choices) loaded.untuned_ += one.record ? 0 : 1;
  Result<deploy::Program> program = deploy::compile_model(plan, choices, target);
  if (!program) return std::unexpected(program.error());
  loaded.program_ = std::make_unique<deploy::Program>(*std::move(program));
  Result<deploy::Runner> runner = deploy::Runner::load(*loaded.program_);
  if (!runner) return std::unexpected(runner.error());
  loaded.runner_ = *std::move(runner);
  loaded.api_ = &loaded.runner_->api();
  return loaded;
}

Result<ModelArrays> make_arrays(const TilewrightModelApi& api,
                                const std::vector<std::string>& inputs,
                                std::optional<uint64_t> seed) {
  std::vector<std::string> files(static_cast<size_t>(api.input_count));
  for (const std::string& word : inputs) {
    const auto input = input_of(api, word);
    if (!input) return std::unexpected(input.error());
    std::string& file = files[static_cast<size_t>(input->first)];
    if (input->second.empty() || !file.empty()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("--input {}: {}", word,
                              input->second.empty() ? "there is no file's name behind the ="
                                                    : "that input is given twice"));
    }
    file = input->second;
  }
  ModelArrays arrays;
  Rng rng(seed.value_or(0));
  for (int32_t k = 0; k < api.input_count; ++k) {
    const TilewrightTensorInfo& info = api.inputs[k];
    const graph::TensorType type = type_of(info);
    runtime::AlignedBuffer buffer(info.bytes);
    const std::string& file = files[static_cast<size_t>(k)];
    if (!file.empty()) {
      const Result<graph::Constant> array = read_npy(file);
      if (!array) return std::unexpected(array.error());
      if (array->type() != type) {
        return fail(ErrorKind::BadInput,
                    fmt::format("{}: the input {} is {}, and the file has {}", file, info.name,
                                type.to_string(), array->type().to_string()));
      }
      std::memcpy(buffer.data(), array->bytes().data(), array->bytes().size());
    } else if (seed) {
      fill(buffer, type, rng);
    } else {
      return fail(ErrorKind::BadInput,
                  fmt::format("the input {} ({}) is not given: --input {}=FILE.npy, or --random "
                              "SEED for what is not given",
                              info.name, type.to_string(), info.name));
    }
    arrays.input_pointers.push_back(buffer.data());
    arrays.inputs.push_back(std::move(buffer));
  }
  for (int32_t k = 0; k < api.output_count; ++k) {
    arrays.outputs.emplace_back(api.outputs[k].bytes);
    arrays.output_pointers.push_back(arrays.outputs.back().data());
  }
  return arrays;
}

}  // namespace tilewright::cli
