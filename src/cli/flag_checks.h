// Checks of flags that CLI11 does not have; each message says what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::cli {

// A number from `low` to `high`; unlike CLI::Range it refuses nan.
CLI::Validator number_between(double low, double high);

// 0 to 2^64 - 1; CLI11 would take -1 for the largest of them.
CLI::Validator natural_number();

// Whether a flag is on the command line; a variable of the environment, which is there for all
// verbs, does not count.
bool is_given(const CLI::App& app, const std::string& flag);

// An error that names the first of `flags` that is on the command line. `why` says what to do
// instead: `is not for a compiled model: ...`.
Status refuse_flags(const CLI::App& app, std::initializer_list<const char*> flags,
                    std::string_view why);

}  // namespace tilewright::cli
