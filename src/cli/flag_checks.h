// Validators of flags that CLI11 does not have. Each message says what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::cli {

// A number from `low` to `high`; unlike CLI::Range, it rejects nan.
CLI::Validator number_between(double low, double high);

// A whole number from `low` to `high`; unlike CLI::Range, it says so of a text that is no number.
CLI::Validator whole_number_between(int64_t low, int64_t high);

// Rejects an empty text, which would mean the same as no flag.
CLI::Validator not_empty();

// 0 to 2^64 - 1; CLI11 would convert -1 to the largest value.
CLI::Validator natural_number();

// True if a flag is on the command line. Environment variables, which apply to all verbs, do not
// count.
bool is_given(const CLI::App& app, const std::string& flag);

// An error that names the first of `flags` on the command line. `why` completes the message: `is
// not for a compiled model: ...`.
Status refuse_flags(const CLI::App& app, std::initializer_list<const char*> flags,
                    std::string_view why);

}  // namespace tilewright::cli
