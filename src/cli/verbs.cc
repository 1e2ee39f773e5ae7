#include <array>

#include "cli/verb.h"

// One line a verb: its name and what it does, as the help shows it. cli/verb_NAME.cc defines
// declare_NAME.
#define TILEWRIGHT_VERBS(VERB)                                                              \
  VERB(bench, "how long a model takes, by task, and beside other libraries")                \
  VERB(compile, "a model or an operator as a library, an object or C source")               \
  VERB(doctor, "what this machine is, what works, what is missing and how to get it")       \
  VERB(explain, "why a candidate is fast, slow or failed, with its loop nest")              \
  VERB(graph, "what was fused into what, as a picture, and the time by kernel")             \
  VERB(lower, "the loop IR of an operator under a schedule, after each pass")               \
  VERB(measure, "build, check and time given or random schedules; keep each verdict")       \
  VERB(model, "what a saved cost model was trained on and looks at")                        \
  VERB(records, "the store of what was measured: list, export, import, merge, check")       \
  VERB(replay, "build and measure a stored candidate again: does it still agree?")          \
  VERB(run, "run a compiled model, or a model file, on .npy arrays")                        \
  VERB(space, "the schedules that a search of an operator tries: sketches and their holes") \
  VERB(tasks, "the kernels that a model is cut into, and the best records of each")         \
  VERB(tune, "search for the fastest schedule of operators; goes on where it was stopped")

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
