#include "app/verdicts.h"

#include <algorithm>

#include "base/quantile.h"

namespace tilewright::app {

std::string_view verdict_name(record::VerdictKind kind) { return text_of(kind); }

bool is_valid(record::VerdictKind kind) { return !is_failure(kind); }

std::string protocol_name(const record::Protocol& protocol) { return print_protocol(protocol); }

SampleRange range_of(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  const auto [min, max] = std::ranges::minmax(samples);
  return {.min = min, .median = median_of(samples), .max = max};
}

double gflops_of(double flop, double latency_ns) {
  return flop > 0 && latency_ns > 0 ? flop / latency_ns : 0;
}

}  // namespace tilewright::app
