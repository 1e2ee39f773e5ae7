#include "tune/models.h"

#include "cost/analytic.h"
#include "cost/plain_models.h"
#include "cost/xgboost_model.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

Models make_models(CostKind kind, const Task& task, const Machine& machine, uint64_t seed) {
  switch (kind) {
    case CostKind::Xgboost: {
      cost::XgboostOptions options;
      options.seed = seed;
      return {.learned = cost::make_xgboost(options), .guess = cost::make_analytic(task, machine)};
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
