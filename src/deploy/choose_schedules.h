// Which schedule each kernel of a plan is compiled with: from the records, or the default one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/plan_model.h"
#include "record/store.h"
#include "schedule/trace.h"

namespace tilewright::deploy {

// What a kernel is compiled with.
struct Choice {
  schedule::Trace trace;
  // What the trace speaks of where that is not the group's workload: one of the same content, in
  // which stages and axes have other names.
  std::shared_ptr<const Workload> workload;
  std::optional<record::Attempt> record;  // of it; none: the default schedule, never measured
  std::string note;                       // why it is not tuned, and the nearest record, where so
};
// One per kernel of the partition: the best record whose trace applies, of the protocol
// weights_cold if there is one, else of another, which the note then says; of this machine if it
// has any. The best is the winner of the last finals, which `tune` shows, inside a model or not,
// unless something that took less time has been found since. Without a store all are default
// schedules.
Result<std::vector<Choice>> choose_schedules(const ModelPlan& plan, const Target& target,
                                             record::Store* store);
// Those, and what might be faster still in the model: by kernel up to `most` records whose traces
// apply, of programs that differ, best first. At least one, which is what choose_schedules gives.
Result<std::vector<std::vector<Choice>>> choose_finalists(const ModelPlan& plan,
                                                          const Target& target,
                                                          record::Store* store, size_t most);
// What took part in the last finals of a task, fastest first: inside a model where those came last,
// else with cold weights. On `machine` only where one is given.
Result<std::vector<record::Attempt>> last_finals(record::Store& store, Hash128 task,
                                                 std::optional<Hash128> machine);

}  // namespace tilewright::deploy
