#include "tune/models.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "cost/analytic.h"

namespace tilewright::tune {

Result<BaseModel> load_base_model(const std::filesystem::path& path, const Selection& cost,
                                  const cost::ModelTable& table) {
  std::string text = TRY(read_file(path));
  const cost::ModelText file{.path = path.string(), .text = std::move(text)};
  std::unique_ptr<cost::CostModel> model =
      TRY(table.make(cost, {.target = nullptr, .machine = nullptr, .seed = 1, .base = &file}));
  return BaseModel{.model = std::move(model), .hash = Hasher().add_text(file.text).finish()};
}

Result<Models> make_models(const Selection& cost, const SearchTables& tables, const Target& target,
                           const Machine& machine, uint64_t seed, const BaseModel* base) {
  std::shared_ptr<cost::CostModel> model;
  if (base != nullptr) {
    model = base->model->fork(seed);
    CHECK(model != nullptr, "{} has a file and no fork", base->model->name());
  } else {
    model = TRY(tables.models.make(
        cost, {.target = &target, .machine = &machine, .seed = seed, .base = nullptr}));
  }
  if (model == nullptr) return Models{};
  for (const std::string& name : model->encodings()) {
    const Result<Selection> known = tables.encodings.parse(name);
    if (!known) return fail(known.error().kind, cost.text() + ": " + known.error().message);
  }
  if (!model->learns()) return Models{.learned = nullptr, .guess = std::move(model)};
  return Models{.learned = std::move(model), .guess = cost::make_analytic(target, machine)};
}

}  // namespace tilewright::tune
