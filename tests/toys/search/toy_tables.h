// The built-in tables with the toys added, one line each.
#pragma once

#include "toy_encoding.h"
#include "toy_explorer.h"
#include "toy_model.h"
#include "toy_template.h"
#include "tune/task_tuner.h"

namespace tilewright::toys {

inline tune::SearchTables toy_tables() {
  tune::SearchTables tables;
  tables.explorers.add(toy_explorer());
  tables.encodings.add(toy_encoding());
  tables.models.add(toy_model());
  return tables;
}

inline space::SpaceOptions toy_space() {
  space::SpaceOptions options;
  options.templates.add(toy_template());
  return options;
}

inline tune::TaskTunerOptions toy_options() {
  tune::TaskTunerOptions options;
  options.threads = 1;
  options.tables = toy_tables();
  options.space = toy_space();
  return options;
}

}  // namespace tilewright::toys
