#include "tune/models.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cost/analytic.h"
#include "cost/plain_models.h"
#include "cost/xgboost_model.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

bool learns(CostKind kind) { return kind == CostKind::Xgboost || kind == CostKind::XgboostSquared; }

cost::ObjectiveKind learns_by(CostKind kind) {
  return kind == CostKind::XgboostSquared ? cost::ObjectiveKind::SquaredError
                                          : cost::ObjectiveKind::PairwiseRank;
}

Result<BaseModel> load_base_model(const std::filesystem::path& path, CostKind kind) {
  Result<cost::ModelFile> file = cost::load_model_file(path);
  if (!file) return std::unexpected(file.error());
  if (!learns(kind) || file->objective != learns_by(kind)) {
    const bool squared = file->objective == cost::ObjectiveKind::SquaredError;
    return fail(ErrorKind::BadInput,
                fmt::format("{}: learnt by {}: it goes with --cost {}", path.string(),
                            objective_name(file->objective),
                            text_of(squared ? CostKind::XgboostSquared : CostKind::Xgboost)));
  }
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return std::unexpected(bytes.error());
  return BaseModel{.file = std::move(*file), .hash = Hasher().add_text(*bytes).finish()};
}

Models make_models(CostKind kind, const Task& task, const Machine& machine, uint64_t seed,
                   const cost::ModelFile* base) {
  switch (kind) {
    case CostKind::Xgboost:
    case CostKind::XgboostSquared: {
      cost::XgboostOptions options;
      options.objective = learns_by(kind);
      options.seed = seed;
      auto learned = base != nullptr ? std::make_unique<cost::XgboostModel>(options, *base)
                                     : cost::make_xgboost(options);
      return {.learned = std::move(learned), .guess = cost::make_analytic(task, machine)};
    }
    case CostKind::Analytic:
      return {.learned = nullptr, .guess = cost::make_analytic(task, machine)};
    case CostKind::Random:
      return {.learned = nullptr, .guess = cost::make_random_model(seed)};
    case CostKind::None:
      return {.learned = nullptr, .guess = nullptr};
  }
  return {};
}

}  // namespace tilewright::tune
