// Templates: spaces that are declared instead of derived, as in AutoTVM (Chen et al., NeurIPS
// 2018). A template is a function from a task to sketches, whose holes are the knobs. The search
// treats them like sketches from rules. A template returns an error for a task that it does not
// serve.
#pragma once

#include <vector>

#include "base/table.h"
#include "schedule/loop_tree.h"
#include "schedule/sketch.h"
#include "task/workload.h"

namespace tilewright::space {

struct TemplateContext {
  const Task* task = nullptr;
  const schedule::LoopTree* initial = nullptr;  // of the empty trace
};

using TemplateTable = Table<std::vector<schedule::Sketch>, TemplateContext>;
using TemplateRow = TemplateTable::Row;

}  // namespace tilewright::space
