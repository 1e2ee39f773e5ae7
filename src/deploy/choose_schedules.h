// choose_schedules: selects the schedule of each kernel of a plan: from the records, or the
// default.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "deploy/plan_model.h"
#include "record/store.h"
#include "schedule/trace.h"

namespace tilewright::deploy {

// The schedule of a kernel.
struct Choice {
  schedule::Trace trace;
  // The workload that the trace refers to, if it is not that of the group: one with the same
  // content but other names of stages and axes.
  std::shared_ptr<const Workload> workload;
  std::optional<record::Attempt> record;  // its record; none: the default schedule, never measured
  std::string note;                       // if it is not tuned: why, and the nearest record
};
// One per kernel of the partition: the best record whose trace applies. Records of the protocol
// weights_cold are preferred, and records of this machine; the note states if another protocol was
// used. The best is the winner of the last finals as printed by `tune`, inside a model or not,
// unless a faster one was found later. Without a store, all are default schedules. `back_end`: the
// recorded name of the one that compiles (codegen/back_ends/back_ends.h). Without a record of it,
// those of the built-in one count.
Result<std::vector<Choice>> choose_schedules(const ModelPlan& plan, const Target& target,
                                             record::Store* store, std::string_view back_end = {});
// The same, with further candidates for the finals inside the model: per kernel up to `limit`
// records with distinct programs whose traces apply, best first. At least one, the result of
// choose_schedules.
Result<std::vector<std::vector<Choice>>> choose_finalists(const ModelPlan& plan,
                                                          const Target& target,
                                                          record::Store* store, size_t limit,
                                                          std::string_view back_end = {});
// The participants of the last finals of a task, fastest first: those inside a model if they were
// the last, otherwise those with cold weights. If `machine` is given, only on it.
Result<std::vector<record::Attempt>> last_finals(record::Store& store, Hash128 task,
                                                 std::optional<Hash128> machine,
                                                 std::string_view back_end = {});

}  // namespace tilewright::deploy
