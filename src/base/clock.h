// The two clocks: one for how long something takes, one for when it was.
#pragma once

#include <chrono>
#include <cstdint>

namespace tilewright {

// Seconds since some moment in the past; never goes back.
inline double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Microseconds since 1970, by the machine's idea of the time.
inline int64_t time_of_day_us() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace tilewright
