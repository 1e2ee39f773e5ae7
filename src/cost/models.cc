#include "cost/models.h"

#include <fmt/format.h>

#include "cost/analytic.h"
#include "cost/plain_models.h"
#include "cost/xgboost_model.h"

namespace tilewright::cost {

const ModelTable& models() {
  static const ModelTable table = ModelTable::built_in("cost model", {
                                                                         xgboost_model(),
                                                                         xgboost_squared_model(),
                                                                         analytic_model(),
                                                                         random_model(),
                                                                         no_model(),
                                                                     });
  return table;
}

Status refuse_base(const ModelContext& context, std::string_view name) {
  if (context.base == nullptr) return {};
  return fail(ErrorKind::BadInput, fmt::format("{}: the cost model {} cannot start from a file",
                                               context.base->path, name));
}

}  // namespace tilewright::cost
