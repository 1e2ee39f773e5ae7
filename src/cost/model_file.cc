#include "cost/model_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace tilewright::cost {
namespace {

constexpr const char* kKind = "tilewright cost model";
constexpr int64_t kMaxBytes = int64_t{1} << 30;

std::unexpected<Error> bad(const std::filesystem::path& path, const std::string& why) {
  return fail(ErrorKind::BadInput, fmt::format("{}: no usable cost model: {}", path.string(), why));
}

Result<size_t> read_count(const Json& json, const char* key) {
  const Result<int64_t> count = member<int64_t>(json, key);
  if (!count) return std::unexpected(count.error());
  if (*count < 0) return fail(ErrorKind::BadInput, fmt::format("'{}' is negative", key));
  return static_cast<size_t>(*count);
}

Status read_counts(const Json& json, ModelFile* file) {
  const struct {
    const char* key;
    size_t* count;
  } counts[] = {{"programs", &file->programs},
                {"failures", &file->failures},
                {"groups", &file->groups},
                {"rows", &file->rows}};
  for (const auto& [key, count] : counts) {
    const Result<size_t> read = read_count(json, key);
    if (!read) return std::unexpected(read.error());
    *count = *read;
  }
  return {};
}

Status read_quality(const Json& json, Quality* quality) {
  const Result<size_t> programs = read_count(json, "programs");
  if (!programs) return std::unexpected(programs.error());
  quality->programs = *programs;
  if (find_member(json, "k") != nullptr) {  // files of before do not say it
    const Result<size_t> k = read_count(json, "k");
    if (!k) return std::unexpected(k.error());
    quality->k = *k;
  }
  const struct {
    const char* key;
    double* number;
  } numbers[] = {{"rank_correlation", &quality->rank_correlation},
                 {"pairwise_accuracy", &quality->pairwise_accuracy},
                 {"recall_at_k", &quality->recall_at_k},
                 {"top1", &quality->top1},
                 {"top5", &quality->top5}};
  for (const auto& [key, number] : numbers) {
    const Result<double> read = member<double>(json, key);
    if (!read) return std::unexpected(read.error());
    *number = *read;
  }
  return {};
}

Status check_meaning(const ModelFile& file, int64_t version) {
  if (version != feature::kFeatureVersion) {
    return fail(ErrorKind::BadInput,
                fmt::format("its features are of version {}, this program's of version {}: train "
                            "it again",
                            version, feature::kFeatureVersion));
  }
  if (file.forest.width != feature::feature_count()) {
    return fail(ErrorKind::BadInput, fmt::format("its rows have {} numbers, this program's {}",
                                                 file.forest.width, feature::feature_count()));
  }
  return {};
}

Result<ModelFile> read_model(const Json& json) {
  const Result<std::string> kind = member<std::string>(json, "kind");
  if (!kind || *kind != kKind) return fail(ErrorKind::BadInput, "it is another kind of file");
  const Result<int64_t> version = member<int64_t>(json, "feature_version");
  if (!version) return std::unexpected(version.error());
  const Result<std::string> objective = member<std::string>(json, "objective");
  if (!objective) return std::unexpected(objective.error());
  const Result<ObjectiveKind> parsed = parse_objective(*objective);
  if (!parsed) return std::unexpected(parsed.error());
  ModelFile file{.objective = *parsed, .quality = {}, .forest = {}};

  const Json* const trained_on = find_member(json, "trained_on");
  const Json* const quality = find_member(json, "held_out_quality");
  const Json* const forest = find_member(json, "forest");
  if (trained_on == nullptr || quality == nullptr || forest == nullptr) {
    return fail(ErrorKind::BadInput, "it has not all of trained_on, held_out_quality and forest");
  }
  Result<Forest> trees = forest_from_json(*forest);
  if (!trees) return std::unexpected(trees.error());
  file.forest = *std::move(trees);
  for (const Status& status : {check_meaning(file, *version), read_counts(*trained_on, &file),
                               read_quality(*quality, &file.quality)}) {
    if (!status) return std::unexpected(status.error());
  }
  return file;
}

}  // namespace

Json quality_to_json(const Quality& quality) {
  return {{"programs", quality.programs},
          {"rank_correlation", quality.rank_correlation},
          {"pairwise_accuracy", quality.pairwise_accuracy},
          {"k", quality.k},
          {"recall_at_k", quality.recall_at_k},
          {"top1", quality.top1},
          {"top5", quality.top5}};
}

Status save_model_file(const ModelFile& file, const std::filesystem::path& path) {
  const Json json = {{"kind", kKind},
                     {"feature_version", file.feature_version},
                     {"objective", objective_name(file.objective)},
                     {"trained_on",
                      {{"programs", file.programs},
                       {"failures", file.failures},
                       {"groups", file.groups},
                       {"rows", file.rows}}},
                     {"held_out_quality", quality_to_json(file.quality)},
                     {"forest", forest_to_json(file.forest)}};
  return write_file_atomically(path, print_json(json) + "\n");
}

Result<ModelFile> load_model_file(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path, kMaxBytes);
  if (!text) return std::unexpected(text.error());
  const Result<Json> json = parse_json(*text);
  if (!json) return bad(path, json.error().message);
  Result<ModelFile> file = read_model(*json);
  if (!file) return bad(path, file.error().message);
  return file;
}

}  // namespace tilewright::cost
