#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/verdicts.h"

namespace tilewright::cli {

std::string duration_text(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.4g} us", nanoseconds * 1e-3);
  if (nanoseconds < 1e9) return fmt::format("{:.4g} ms", nanoseconds * 1e-6);
  return fmt::format("{:.4g} s", nanoseconds * 1e-9);
}

std::string rate_text(double flop, double nanoseconds) {
  const double gflops = app::gflops_of(flop, nanoseconds);
  return gflops > 0 ? fmt::format("{:.4g} GFLOP/s", gflops) : "-";
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::clamp(seconds, 0.0, 1e9)));
  const long hours = whole / 3600;
  if (hours == 0) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60);
}

std::string short_id(Hash128 id) { return id.hex().substr(0, 12); }

}  // namespace tilewright::cli
