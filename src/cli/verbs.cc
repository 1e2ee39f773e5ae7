#include <array>

#include "cli/verb.h"

// One line a verb: its name and what it does, as the help shows it. cli/verb_NAME.cc defines
// declare_NAME.
#define TILEWRIGHT_VERBS(VERB)                                                        \
  VERB(doctor, "what this machine is, what works, what is missing and how to get it") \
  VERB(explain, "why a candidate is fast, slow or failed, with its loop nest")        \
  VERB(lower, "the loop IR of an operator under a schedule, after each pass")         \
  VERB(measure, "build, check and time given or random schedules; keep each verdict") \
  VERB(records, "the store of what was measured: list, export, import, merge, check") \
  VERB(replay, "build and measure a stored candidate again: does it still agree?")

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
