// The tables with the toys in them: one line each.
#pragma once

#include "toy_encoding.h"
#include "toy_explorer.h"
#include "toy_model.h"
#include "toy_template.h"
#include "tune/task_tuner.h"

namespace tilewright::toys {

inline tune::TaskTunerOptions toy_options() {
  tune::TaskTunerOptions options;
  options.threads = 1;
  options.tables.explorers.add(toy_explorer());
  options.tables.encodings.add(toy_encoding());
  options.tables.models.add(toy_model());
  options.space.templates.add(toy_template());
  return options;
}

}  // namespace tilewright::toys
