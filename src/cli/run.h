// run: the program as a function: parses the arguments, runs the verb, maps errors to exit codes.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace tilewright::cli {

struct Verb;

// The exit code of `tilewright ARGUMENTS...`. Reads environment variables TILEWRIGHT_*, writes only
// to the given streams, and throws no exception.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);
// With a custom list of verbs.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        std::span<const Verb> verbs);

}  // namespace tilewright::cli
