// The tables that a search selects from by name (explorers, cost models, encodings), and the two
// models of a search: a learned one, and one that guides until the learned one has enough samples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "cost/models.h"
#include "feature/encoding.h"
#include "feature/encodings.h"
#include "search/explorers.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::tune {

// The built-in tables; a caller may add rows.
struct SearchTables {
  search::ExplorerTable explorers = search::explorers();
  cost::ModelTable models = cost::models();
  feature::EncodingTable encodings = feature::encodings();

  // Parses a selection of `models`. The encoding in its options is a row of `encodings`.
  Result<Selection> parse_model(std::string_view text) const;
};

// A learned model that a search starts with.
struct BaseModel {
  std::shared_ptr<const cost::CostModel> model;
  Hash128 hash;  // hash of its file
};
Result<BaseModel> load_base_model(const std::filesystem::path& path, const Selection& cost,
                                  const cost::ModelTable& table = cost::models());

// Tasks of one target may share both.
struct Models {
  std::shared_ptr<cost::CostModel> learned{};  // null: nothing is learned
  // Guides until `learned` does. Null: no scores until then, because the table of encodings lacks
  // those that it reads, or there is no model at all.
  std::shared_ptr<cost::CostModel> analytic{};
  // Names of their rows.
  std::string learned_name{};
  std::string analytic_name{};

  // True if scores are random and no model will learn.
  bool mean_nothing() const { return !learned && (!analytic || !analytic->is_trained()); }
};

// An error if the selected model needs an encoding that is not in the tables. `base`: initial
// model; may be null.
Result<Models> make_models(const Selection& cost, const SearchTables& tables, const Target& target,
                           const Machine& machine, uint64_t seed, const BaseModel* base = nullptr);

}  // namespace tilewright::tune
