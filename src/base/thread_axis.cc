#include "base/thread_axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

constexpr std::array<std::string_view, kThreadAxisCount> kThreadAxes = {
    "none", "block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual_thread"};

}  // namespace

std::string_view word_of(ThreadAxis axis) { return kThreadAxes[static_cast<size_t>(axis)]; }
std::string all_words(ThreadAxis) { return fmt::format("{}", fmt::join(kThreadAxes, "|")); }
bool from_word(std::string_view word, ThreadAxis* axis) {
  const auto found = std::ranges::find(kThreadAxes, word);
  if (found == kThreadAxes.end()) return false;
  *axis = static_cast<ThreadAxis>(found - kThreadAxes.begin());
  return true;
}

}  // namespace tilewright
