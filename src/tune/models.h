// What a search chooses from, by name: explorers, cost models and encodings; and the models of a
// search: one that learns, and one that guides until it has learnt enough.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
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
};

// A learned model that a search begins with.
struct BaseModel {
  std::shared_ptr<const cost::CostModel> model;
  Hash128 hash;  // of its file
};
Result<BaseModel> load_base_model(const std::filesystem::path& path, const Selection& cost,
                                  const cost::ModelTable& table = cost::models());

// Both may be shared by the tasks of one target.
struct Models {
  std::shared_ptr<cost::CostModel> learned;  // null: nothing is learnt
  std::shared_ptr<cost::CostModel> guess;    // null: no scores at all

  // Scores are no more than chance, now and later.
  bool mean_nothing() const { return !learned && (!guess || !guess->is_trained()); }
};

// An error for a model that wants an encoding which is not in the tables. `base`: a model to begin
// with; null: none.
Result<Models> make_models(const Selection& cost, const SearchTables& tables, const Target& target,
                           const Machine& machine, uint64_t seed, const BaseModel* base = nullptr);

}  // namespace tilewright::tune
