#include "measure/status_block.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tilewright::measure {
namespace {

void copy_cut(std::string_view text, std::span<char> to) {
  const size_t bytes = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), bytes);
  to[bytes] = '\0';
}

std::string text_within(std::span<const char> from) {
  return {from.begin(), std::ranges::find(from, '\0')};
}

}  // namespace

void set_phase(StatusBlock& status, std::string_view phase) { copy_cut(phase, status.phase); }
void set_detail(StatusBlock& status, std::string_view detail) { copy_cut(detail, status.detail); }
std::string phase_text(const StatusBlock& status) { return text_within(status.phase); }
std::string detail_text(const StatusBlock& status) { return text_within(status.detail); }

}  // namespace tilewright::measure
