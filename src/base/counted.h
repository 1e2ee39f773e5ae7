// counted: a number with the noun that it counts, for messages. Pure.
//
//   counted(1, "trial") = "1 trial"    counted(2, "library", "libraries") = "2 libraries"
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace tilewright {

// Without `plural`, an s is appended to the noun.
template <std::integral Count>
std::string counted(Count count, std::string_view noun, std::string_view plural = {}) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

}  // namespace tilewright
