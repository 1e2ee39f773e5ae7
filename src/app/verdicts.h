// Verdicts and protocols for interfaces: names, samples, and counts of a run. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "record/attempt.h"

namespace tilewright::app {

using VerdictCounts = std::array<size_t, record::kVerdictKinds>;  // by kind

std::string_view verdict_name(record::VerdictKind kind);  // `timed`, `build_timeout`
// True if the result is correct: the candidate was timed, or is clearly slow.
bool is_valid(record::VerdictKind kind);

std::string protocol_name(const record::Protocol& protocol);  // `v1;warm`

// Of the samples of a time.
struct SampleRange {
  double min = 0, median = 0, max = 0;
};
SampleRange range_of(const std::vector<double>& samples);  // zeros if there are none

double gflops_of(double flop, double latency_ns);  // 0 if either is unknown

}  // namespace tilewright::app
