// The program without its process: parses the arguments, runs the verb, maps errors to exit codes.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace tilewright::cli {

struct Verb;

// The exit code of `tilewright ARGUMENTS...`. Reads environment variables TILEWRIGHT_*, writes to
// the given streams only, and lets no exception out.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);
// With other verbs than all_verbs().
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        std::span<const Verb> verbs);

}  // namespace tilewright::cli
