// `tilewright run model.so --input x.npy`: runs a compiled model, or a model file, once; writes its
// outputs as .npy files or tells what they hold.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <ostream>
#include <set>

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

// What people look at first: of the numbers, which NaN is none of.
struct Digest {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  int64_t numbers = 0, nans = 0;
};

Digest digest_of(const runtime::AlignedBuffer& buffer, const graph::TensorType& type) {
  Digest digest;
  for (int64_t k = 0; k < type.elements(); ++k) {
    const double value = ir::read_element(buffer.as<std::byte>(), type.element, k);
    if (std::isnan(value)) {
      ++digest.nans;
      continue;
    }
    digest.low = std::min(digest.low, value);
    digest.high = std::max(digest.high, value);
    digest.sum += value;
    ++digest.numbers;
  }
  return digest;
}

std::string text_of(const Digest& digest) {
  const std::string nans =
      digest.nans == 0 ? ""
                       : fmt::format("{} of {} NaN", digest.nans, digest.nans + digest.numbers);
  if (digest.numbers == 0) return nans.empty() ? "empty" : nans;
  return fmt::format("least {:.6g}, largest {:.6g}, mean {:.6g}{}{}", digest.low, digest.high,
                     digest.sum / static_cast<double>(digest.numbers), nans.empty() ? "" : ", ",
                     nans);
}

// Names as those of files: what is no letter, digit, '.', '-' or '_' becomes '_'; names that are
// then the same get their place behind them.
std::vector<std::string> file_names_of(const TilewrightModelApi& api) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (int32_t k = 0; k < api.output_count; ++k) {
    std::string name(api.outputs[k].name);
    std::ranges::replace_if(
        name,
        [](char c) {
          const auto letter = static_cast<unsigned char>(c);
          const bool plain = letter < 128 && std::isalnum(letter) != 0;
          return !plain && c != '.' && c != '-' && c != '_';
        },
        '_');
    while (!taken.insert(name).second) name += fmt::format("_{}", k);
    names.push_back(name + ".npy");
  }
  return names;
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorKind::Io,
              fmt::format("--output {}: no folder: {}", folder.string(), error.message()));
}

// Tells what an output holds, and writes it where a folder was named.
Status print_output(const Context& context, const Options& options,
                    const TilewrightTensorInfo& info, const runtime::AlignedBuffer& buffer,
                    const std::string& file_name) {
  const graph::TensorType type = type_of(info);
  const Digest digest = digest_of(buffer, type);
  std::string text = fmt::format("{} {}: {}", info.name, type.to_string(), text_of(digest));
  Json json = {{"output", info.name}, {"type", type.to_string()}, {"nans", digest.nans}};
  if (digest.numbers > 0) {
    json["least"] = digest.low;
    json["largest"] = digest.high;
  }
  if (!options.output.empty()) {
    const std::filesystem::path file = std::filesystem::path(options.output) / file_name;
    const Status written =
        write_npy(file, type, {buffer.as<const char>(), static_cast<size_t>(info.bytes)});
    if (!written) return written;
    text += " -> " + file.string();
    json["file"] = file.string();
  }
  print(context, text + "\n", json);
  return {};
}

Result<ExitCode> run_run(const Context& context, const Options& options) {
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  if (!options.output.empty()) {
    if (const Status made = make_folder(options.output); !made) {
      return std::unexpected(made.error());
    }
  }
  const Result<LoadedModel> model = LoadedModel::load(options.model, *target, options.records);
  if (!model) return std::unexpected(model.error());
  const TilewrightModelApi& api = model->api();
  const Result<ModelArrays> arrays = make_arrays(api, options.inputs, options.seed);
  if (!arrays) return std::unexpected(arrays.error());
  const Result<deploy::ModelInstance> instance = deploy::make_instance(
      api, {.threads = options.target.threads, .flags = 0, .weights_path = nullptr});
  if (!instance) return std::unexpected(instance.error());
  if (api.run(instance->get(), arrays->input_pointers.data(), arrays->output_pointers.data()) !=
      0) {
    return fail(ErrorKind::Build, api.error(instance->get()));
  }
  const std::vector<std::string> names = file_names_of(api);
  for (int32_t k = 0; k < api.output_count; ++k) {
    const auto place = static_cast<size_t>(k);
    const Status printed =
        print_output(context, options, api.outputs[k], arrays->outputs[place], names[place]);
    if (!printed) return std::unexpected(printed.error());
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
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    const Status flags = check_model_flags(app, options->model, options->records, false);
    if (!flags) return std::unexpected(flags.error());
    return run_run(context, *options);
  };
}

}  // namespace tilewright::cli
