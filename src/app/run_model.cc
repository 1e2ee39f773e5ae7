#include "app/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "app/loaded_model.h"
#include "app/npy.h"
#include "ir/element.h"

namespace tilewright::app {
namespace {

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

// File names: characters other than letters, digits, '.', '-' and '_' become '_'; equal names get
// their index as a suffix.
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
              fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

}  // namespace

Result<RunOutcome> run_model(const RunOptions& options, const StopToken& stop) {
  const Target target = TRY(measured_target_of(options.target, options.tables));
  if (!options.output.empty()) TRY(make_folder(options.output));
  Result<LoadedModel> loaded =
      LoadedModel::load(options.model, target, options.records, options.tables, stop);
  if (stop.requested()) return RunOutcome{.outputs = {}, .stopped = true};
  const LoadedModel model = TRY(std::move(loaded));
  const TilewrightModelApi& api = model.api();
  const measure::ModelArrays arrays = TRY(make_arrays(api, options.inputs, options.random_seed));
  const runtime::ModelInstance instance = TRY(runtime::make_instance(
      api, {.threads = options.target.threads, .flags = 0, .weights_path = nullptr}));
  if (api.run(instance.get(), arrays.input_pointers.data(), arrays.output_pointers.data()) != 0) {
    return fail(ErrorKind::Build, api.error(instance.get()));
  }
  const std::vector<std::string> files = file_names_of(api);
  RunOutcome outcome;
  for (size_t k = 0; k < arrays.outputs.size(); ++k) {
    const TilewrightTensorInfo& info = api.outputs[k];
    const graph::TensorType type = type_of(info);
    RunOutput output{
        .name = info.name, .type = type, .digest = digest_of(arrays.outputs[k], type), .file = {}};
    if (!options.output.empty()) {
      output.file = std::filesystem::path(options.output) / files[k];
      TRY(write_npy(output.file, type,
                    {arrays.outputs[k].as<const char>(), static_cast<size_t>(info.bytes)}));
    }
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

}  // namespace tilewright::app
