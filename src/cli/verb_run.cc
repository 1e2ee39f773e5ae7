// `tilewright run model.so --input x.npy`: runs a compiled model, or a model file, once; writes its
// outputs as .npy files or tells what they hold.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <memory>
#include <ostream>

#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/loaded_model.h"
#include "cli/npy.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/verb.h"
#include "ir/element.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelChoice model;
  TargetChoice target;
  std::string records = kDefaultRecords;
  std::vector<std::string> inputs;
  std::string output;  // folder
  std::optional<uint64_t> seed;
};

// What people look at first.
struct Digest {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
};

Digest digest_of(const runtime::AlignedBuffer& buffer, const graph::TensorType& type) {
  Digest digest;
  for (int64_t k = 0; k < type.elements(); ++k) {
    const double value = ir::read_element(buffer.as<std::byte>(), type.element, k);
    digest.low = std::min(digest.low, value);
    digest.high = std::max(digest.high, value);
    digest.sum += value;
  }
  return digest;
}

// A name as a file's: what is no letter, digit, '.', '-' or '_' becomes '_'.
std::string file_name_of(std::string_view name) {
  std::string file(name);
  std::ranges::replace_if(
      file,
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_';
      },
      '_');
  return file + ".npy";
}

Result<ExitCode> run_run(const Context& context, const Options& options) {
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  const Result<LoadedModel> model = LoadedModel::load(options.model, *target, options.records);
  if (!model) return std::unexpected(model.error());
  const TilewrightModelApi& api = model->api();
  const Result<ModelArrays> arrays = make_arrays(api, options.inputs, options.seed);
  if (!arrays) return std::unexpected(arrays.error());
  const Result<deploy::ModelInstance> instance =
      deploy::make_instance(api, {.threads = 0, .flags = 0, .weights_path = nullptr});
  if (!instance) return std::unexpected(instance.error());
  if (api.run(instance->get(), arrays->input_pointers.data(), arrays->output_pointers.data()) !=
      0) {
    return fail(ErrorKind::Build, api.error(instance->get()));
  }
  if (!options.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.output, error);
  }
  for (int32_t k = 0; k < api.output_count; ++k) {
    const TilewrightTensorInfo& info = api.outputs[k];
    const graph::TensorType type = type_of(info);
    const runtime::AlignedBuffer& buffer = arrays->outputs[static_cast<size_t>(k)];
    const Digest digest = digest_of(buffer, type);
    std::string text =
        fmt::format("{} {}: least {:.6g}, largest {:.6g}, mean {:.6g}", info.name, type.to_string(),
                    digest.low, digest.high, digest.sum / static_cast<double>(type.elements()));
    Json json = {{"output", info.name},
                 {"type", type.to_string()},
                 {"least", digest.low},
                 {"largest", digest.high}};
    if (!options.output.empty()) {
      const std::filesystem::path file =
          std::filesystem::path(options.output) / file_name_of(info.name);
      const Status written =
          write_npy(file, type, {buffer.as<const char>(), static_cast<size_t>(info.bytes)});
      if (!written) return std::unexpected(written.error());
      text += " -> " + file.string();
      json["file"] = file.string();
    }
    print(context, text + "\n", json);
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->model.what,
                 "a compiled model, such as resnet50.so, or a model file, such as resnet50.onnx")
      ->required();
  app.add_option("--input", options->inputs,
                 "NAME=FILE.npy, or FILE.npy where there is one input; may be repeated");
  app.add_option("--random", options->seed, "a seed: inputs that are not given hold random numbers")
      ->check(natural_number());
  app.add_option("--output", options->output, "a folder for the outputs as .npy files");
  declare_model_flags(app, &options->model);
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  return [options](const Context& context) { return run_run(context, *options); };
}

}  // namespace tilewright::cli
