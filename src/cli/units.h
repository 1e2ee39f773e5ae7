// Formats durations, rates and ids for display. Pure functions.
#pragma once

#include <string>

#include "base/hash.h"

namespace tilewright::cli {

std::string duration_text(double nanoseconds);           // `85 ns`, `412.3 us`, `1.234 ms`, `2.5 s`
std::string rate_text(double flop, double nanoseconds);  // `893.1 GFLOP/s`; `-` if unknown
std::string clock_text(double seconds);                  // `0:07`, `12:30`, `1:02:03`
std::string short_id(Hash128 id);                        // the first 12 digits

}  // namespace tilewright::cli
