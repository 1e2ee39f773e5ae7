// The cost models of a search: one that learns, and one that guides until it has learnt enough.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/hash.h"
#include "base/result.h"
#include "cost/model.h"
#include "cost/model_file.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::tune {

enum class CostKind : uint8_t;

bool learns(CostKind kind);
cost::ObjectiveKind learns_by(CostKind kind);  // of one that learns

// A learned model that a search begins with.
struct BaseModel {
  cost::ModelFile file;
  Hash128 hash;  // of its bytes
};
Result<BaseModel> load_base_model(const std::filesystem::path& path, CostKind kind);

struct Models {
  std::unique_ptr<cost::CostModel> learned;  // null: nothing is learnt
  std::unique_ptr<cost::CostModel> guess;    // null: no scores at all
};

// `base`: a model to begin with, which new trees are added to; null: none.
Models make_models(CostKind kind, const Task& task, const Machine& machine, uint64_t seed,
                   const cost::ModelFile* base = nullptr);

}  // namespace tilewright::tune
