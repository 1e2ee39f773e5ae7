#include "space/tile_order.h"

namespace tilewright::space {

bool has_order(const schedule::TileDomain& domain) {
  const auto rises = [&](auto lower) {
    return std::ranges::adjacent_find(domain.choices, [&](const auto& a, const auto& b) {
             return !lower(a, b);
           }) == domain.choices.end();
  };
  return rises(lower_by_first) || rises(lower_by_last);
}

}  // namespace tilewright::space
