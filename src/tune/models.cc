#include "tune/models.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cost/analytic.h"

namespace tilewright::tune {

Result<Selection> SearchTables::parse_model(std::string_view text) const {
  return models.parse(text, [&](std::string_view encoding) -> Result<std::string> {
    return TRY(encodings.parse(encoding)).text();
  });
}

Result<BaseModel> load_base_model(const std::filesystem::path& path, const Selection& cost,
                                  const cost::ModelTable& table) {
  std::string text = TRY(read_file(path));
  const cost::ModelText file{.path = path.string(), .text = std::move(text)};
  std::unique_ptr<cost::CostModel> model =
      TRY(table.make(cost, {.target = nullptr, .machine = nullptr, .seed = 1, .base = &file}));
  if (model == nullptr) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: the cost model {} begins with no file", file.path, cost.text()));
  }
  return BaseModel{.model = std::move(model), .hash = Hasher().add_text(file.text).finish()};
}

namespace {

// An error if the model reads no encoding, one of them twice, or one that is not in the table.
Status check_encodings(const cost::CostModel& model, const feature::EncodingTable& table) {
  const std::vector<std::string> names = model.encodings();
  if (names.empty()) return fail(ErrorKind::BadInput, "names no encoding of a program");
  for (const std::string& name : names) {
    TRY(table.parse(name));
    if (std::ranges::count(names, name) > 1) {
      return fail(ErrorKind::BadInput, fmt::format("names the encoding {} twice", name));
    }
  }
  return {};
}

}  // namespace

Result<Models> make_models(const Selection& cost, const SearchTables& tables, const Target& target,
                           const Machine& machine, uint64_t seed, const BaseModel* base) {
  std::shared_ptr<cost::CostModel> model;
  if (base != nullptr) {
    model = base->model->fork(seed);
    if (model == nullptr) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("the cost model {} reads a file but cannot continue its training: "
                              "tune without a base model, or choose another cost model",
                              cost.name));
    }
  } else {
    model = TRY(tables.models.make(
        cost, {.target = &target, .machine = &machine, .seed = seed, .base = nullptr}));
  }
  if (model == nullptr) return Models{};
  if (const Status known = check_encodings(*model, tables.encodings); !known) {
    return fail(known.error().kind, cost.text() + ": " + known.error().message);
  }
  if (!model->learns()) return Models{.analytic = std::move(model), .analytic_name = cost.name};
  std::shared_ptr<cost::CostModel> guide = cost::make_analytic(target, machine);
  if (!check_encodings(*guide, tables.encodings)) guide = nullptr;  // a table of the caller
  return Models{.learned = std::move(model),
                .analytic = std::move(guide),
                .learned_name = cost.name,
                .analytic_name = cost::analytic_model().name};
}

}  // namespace tilewright::tune
