// The table of cost models, selected by a text: `NAME[:OPTION=VALUE,...]`.
#pragma once

#include <memory>
#include <string>

#include "base/table.h"
#include "cost/model.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::cost {

// The text of a model file.
struct ModelText {
  std::string path;  // for messages
  std::string text;
};

// Only used during construction of the model.
struct ModelContext {
  const Target* target = nullptr;
  const Machine* machine = nullptr;
  uint64_t seed = 1;
  const ModelText* base =
      nullptr;  // initial model, from a file; null: none. If it is set, the others may be null
};

// A factory may return null: no scores.
using ModelTable = Table<std::unique_ptr<CostModel>, ModelContext>;
using ModelRow = ModelTable::Row;

// The built-in models.
const ModelTable& models();

// For factories of models without a file form: an error if one is given.
Status refuse_base(const ModelContext& context, std::string_view name);

}  // namespace tilewright::cost
