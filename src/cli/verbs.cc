#include <array>

#include "cli/verb.h"

// One line per verb: its name and its summary, as printed by --help. cli/verb_NAME.cc defines
// declare_NAME.
#define TILEWRIGHT_VERBS(VERB)                                                                 \
  VERB(bench, "time a model, per task, and compare it with other libraries")                   \
  VERB(compile, "compile a model or an operator to a library, an object or C source")          \
  VERB(doctor, "describe this machine, test the back ends, list what is missing")              \
  VERB(explain, "explain why a candidate is fast, slow or wrong, or where a model loses time") \
  VERB(graph, "draw the kernels of a model with their fused nodes and times")                  \
  VERB(lower, "print the loop IR of an operator under a schedule, after each pass")            \
  VERB(measure, "build, check and time given or random schedules; store each verdict")         \
  VERB(model, "describe a saved cost model: its training data and its features")               \
  VERB(records, "list, export, import, merge and check stored measurements")                   \
  VERB(replay, "measure a stored candidate again and compare the verdicts")                    \
  VERB(run, "run a compiled model, or a model file, on .npy arrays")                           \
  VERB(space, "print the search space of an operator: sketches and their holes")               \
  VERB(tasks, "list the distinct kernels of a model, with the best record of each")            \
  VERB(tune, "search for the fastest schedules of operators and models; resumes a stopped run")

namespace tilewright::cli {

#define TILEWRIGHT_DECLARE(verb, summary) Action declare_##verb(CLI::App& app);
TILEWRIGHT_VERBS(TILEWRIGHT_DECLARE)
#undef TILEWRIGHT_DECLARE

std::span<const Verb> all_verbs() {
#define TILEWRIGHT_ROW(verb, summary) Verb{#verb, summary, declare_##verb},
  static constexpr auto kVerbs = std::to_array<Verb>({TILEWRIGHT_VERBS(TILEWRIGHT_ROW)});
#undef TILEWRIGHT_ROW
  return kVerbs;
}

}  // namespace tilewright::cli
