// Checks of flags that CLI11 does not have; each message says what is allowed.
#pragma once

#include <CLI/CLI.hpp>

namespace tilewright::cli {

// A number from `low` to `high`; unlike CLI::Range it refuses nan.
CLI::Validator number_between(double low, double high);

// 0 to 2^64 - 1; CLI11 would take -1 for the largest of them.
CLI::Validator natural_number();

}  // namespace tilewright::cli
