// Templates: spaces that are declared instead of derived, in the manner of AutoTVM (Chen et al.,
// NeurIPS 2018). A template is a function over a task that gives sketches, whose holes are the
// knobs; everything that searches takes them as it takes the sketches of the rules. It says by an
// error for which tasks it is.
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
