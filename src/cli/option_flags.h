// Renders the options that an error is about (base/result.h) as flags of the verb that ran. An
// option `input_shapes` is the flag --input-shapes; a table has those with other names.
//
//   {"input_shapes", "x:[1,3]"} -> --input-shapes "x:[1,3]"
#pragma once

#include <string>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// The flag with its value, as typed in a shell.
std::string flag_text(const OptionHint& hint);

// The message of the error, followed by the flags of its options: `no such input (--input)`. Flags
// that the verb does not have are left out.
std::string message_with_flags(const Error& error, const CLI::App& verb);

}  // namespace tilewright::cli
