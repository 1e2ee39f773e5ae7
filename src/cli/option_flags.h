// Renders the options that an error is about (base/result.h) as flags of the verb that ran, and its
// jobs as verbs. An option `input_shapes` is the flag --input-shapes; tables list the exceptions.
//
//   {"input_shapes", "x:[1,3]"}            -> --input-shapes "x:[1,3]"
//   {"list_attempts", "C2D2", "lists it"}  -> `tilewright records ls C2D2` lists it
#pragma once

#include <string>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// The flag with its value, as typed in a shell.
std::string flag_text(const OptionHint& hint);

std::string job_text(const JobHint& hint);

// The message of the error, followed by the flags of its options, `no such input (--input)`, and by
// its jobs. Flags that the verb does not have are left out.
std::string message_with_hints(const Error& error, const CLI::App& verb);

}  // namespace tilewright::cli
