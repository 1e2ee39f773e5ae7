// The table of cost models: `--cost NAME[:OPTION=VALUE,...]`.
#pragma once

#include <memory>
#include <string>

#include "base/table.h"
#include "cost/model.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::cost {

// A file that a model wrote.
struct ModelText {
  std::string path;  // for messages
  std::string text;
};

// All of it need not outlive the making.
struct ModelContext {
  const Target* target = nullptr;
  const Machine* machine = nullptr;
  uint64_t seed = 1;
  const ModelText* base =
      nullptr;  // what to begin with; null: nothing. Then the others may be null
};

// A row may make no model, a null pointer: then nothing has scores.
using ModelTable = Table<std::unique_ptr<CostModel>, ModelContext>;
using ModelRow = ModelTable::Row;

// The built-in models.
const ModelTable& models();

// For factories of models that have no file: an error where one is given.
Status refuse_base(const ModelContext& context, std::string_view name);

}  // namespace tilewright::cost
