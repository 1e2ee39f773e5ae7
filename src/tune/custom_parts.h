// The hash of the custom parts of a search: rules, templates, explorers, models and encodings that
// the caller defines. Their names do not identify them, since a caller may change the code behind a
// name. The hash therefore covers their output: the sketches of the tasks' spaces, the first
// proposals, the proposals that follow from their results, and predictions on a probe set (random
// programs with made-up latencies, on which a model that learns is trained first). Proposals and
// predictions are those of the first task that has a space. Built-in parts enter the key of a
// trajectory by their names, options and versions (hash_of in tune/task_tuner.h).
#pragma once

#include <span>

#include "base/hash.h"
#include "base/result.h"
#include "target/machine.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

// Zero if all parts are built-in. The same parts, tasks and machine give the same hash. An error if
// the encodings of a custom model represent none of the probes: only its name would identify it.
Result<Hash128> hash_of_custom_parts(const TaskTunerOptions& options, std::span<const Task> tasks,
                                     const Machine& machine);

}  // namespace tilewright::tune
