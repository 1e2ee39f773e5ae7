#include "cost/model_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "feature/rows_table.h"

namespace tilewright::cost {
namespace {

constexpr const char* kKind = "tilewright cost model";
constexpr int64_t kMaxBytes = int64_t{1} << 30;

std::unexpected<Error> bad(const std::filesystem::path& path, const std::string& why) {
  return fail(ErrorKind::BadInput,
              fmt::format("{}: not a usable cost model: {}", path.string(), why));
}

Result<size_t> read_count(const Json& json, const char* key) {
  const int64_t count = TRY(member<int64_t>(json, key));
  if (count < 0) return fail(ErrorKind::BadInput, fmt::format("'{}' is negative", key));
  return static_cast<size_t>(count);
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
    *count = TRY(read_count(json, key));
  }
  return {};
}

Status read_quality(const Json& json, Quality* quality) {
  quality->programs = TRY(read_count(json, "programs"));
  if (find_member(json, "k") != nullptr)
    quality->k = TRY(read_count(json, "k"));  // missing in older files
  const struct {
    const char* key;
    double* number;
  } numbers[] = {{"rank_correlation", &quality->rank_correlation},
                 {"pairwise_accuracy", &quality->pairwise_accuracy},
                 {"recall_at_k", &quality->recall_at_k},
                 {"top1", &quality->top1},
                 {"top5", &quality->top5}};
  for (const auto& [key, number] : numbers) {
    *number = TRY(member<double>(json, key));
  }
  return {};
}

Status check_meaning(const ModelFile& file) {
  if (file.encoding != kFeatures) return {};
  if (file.encoding_version != feature::kFeatureVersion) {
    return fail(ErrorKind::BadInput,
                fmt::format("its features are of version {}, this program's of version {}: train "
                            "it again",
                            file.encoding_version, feature::kFeatureVersion));
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
  const bool has_encoding = find_member(json, "encoding") != nullptr;
  const int64_t version =
      TRY(member<int64_t>(json, has_encoding ? "encoding_version" : "feature_version"));
  const LossKind loss = TRY(parse_loss(TRY(member<std::string>(json, "objective"))));
  ModelFile file{.loss = loss, .quality = {}, .forest = {}};
  if (has_encoding) file.encoding = TRY(member<std::string>(json, "encoding"));
  if (!std::in_range<int>(version)) return fail(ErrorKind::BadInput, "its version is too large");
  file.encoding_version = static_cast<int>(version);

  const Json* const trained_on = find_member(json, "trained_on");
  const Json* const quality = find_member(json, "held_out_quality");
  const Json* const forest = find_member(json, "forest");
  if (trained_on == nullptr || quality == nullptr || forest == nullptr) {
    return fail(ErrorKind::BadInput, "trained_on, held_out_quality or forest is missing");
  }
  file.forest = TRY(forest_from_json(*forest));
  TRY(check_meaning(file));
  TRY(read_counts(*trained_on, &file));
  TRY(read_quality(*quality, &file.quality));
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

std::string print_model_file(const ModelFile& file) {
  const Json json = {{"kind", kKind},
                     {"encoding", file.encoding},
                     {"encoding_version", file.encoding_version},
                     {"objective", loss_name(file.loss)},
                     {"trained_on",
                      {{"programs", file.programs},
                       {"failures", file.failures},
                       {"groups", file.groups},
                       {"rows", file.rows}}},
                     {"held_out_quality", quality_to_json(file.quality)},
                     {"forest", forest_to_json(file.forest)}};
  return print_json(json) + "\n";
}

Status save_model_file(const ModelFile& file, const std::filesystem::path& path) {
  return write_file_atomically(path, print_model_file(file));
}

Result<ModelFile> load_model_file(const std::filesystem::path& path) {
  return parse_model_file(TRY(read_file(path, kMaxBytes)), path);
}

Result<ModelFile> parse_model_file(const std::string& text, const std::filesystem::path& path) {
  const Result<Json> json = parse_json(text);
  if (!json) return bad(path, json.error().message);
  Result<ModelFile> file = read_model(*json);
  if (!file) return bad(path, file.error().message);
  return file;
}

}  // namespace tilewright::cost
