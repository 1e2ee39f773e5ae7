// Verbs of the program `tilewright`. A verb is one file, cli/verb_x.cc, which defines declare_x,
// and one line of the table in cli/verbs.cc. declare_x adds the flags of the verb and returns the
// function to run after parsing:
//
//   Action declare_square(CLI::App& app) {
//     auto number = std::make_shared<int>(1);
//     app.add_option("--number", *number, "what to square");
//     return [number](const Context& context) -> Result<ExitCode> {
//       print(context, fmt::format("{}\n", *number * *number), {{"square", *number * *number}});
//       return ExitCode::Done;
//     };
//   }
//
// The flag --json and, for every flag --some-flag, the environment variable TILEWRIGHT_SOME_FLAG
// are added to all verbs (cli/run.cc). Single-threaded.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace tilewright::cli {

enum class ExitCode {
  Done = 0,
  BadUse = 2,         // wrong usage or bad input
  NothingValid = 3,   // nothing valid was found; replay: the verdicts disagree
  NotTuned = 4,       // under --require-tuned
  InternalError = 5,  // a bug
  Interrupted = 130,  // by Ctrl-C, ended cleanly
};

// The output streams of a verb. Results go to `out`, as text or, with --json, one object per line;
// progress and explanations go to `err`.
struct Context {
  std::ostream& out;
  std::ostream& err;
  bool json = false;
};

// Prints a result as text or JSON. `text` ends with a newline.
void print(const Context& context, std::string_view text, const Json& json);

// Prints to `err` what Ctrl-C has left: "interrupted: the check is not complete". Each verb that it
// ends early calls this, unless its result says so.
ExitCode interrupted(const Context& context, std::string_view what);

// Errors are always explained on err, which the caller does; with --json they are also an object on
// out. `error` has the members `kind` and `message`, and may have more.
void print_error_object(const Context& context, const Json& error);

using Action = std::function<Result<ExitCode>(const Context&)>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  Action (*declare)(CLI::App& app);
};

std::span<const Verb> all_verbs();

}  // namespace tilewright::cli
