#include "graph/passes/reshape_parts.h"

namespace tilewright::graph {

std::vector<ReshapePart> reshape_parts(const std::vector<int64_t>& before,
                                       const std::vector<int64_t>& after) {
  std::vector<ReshapePart> parts;
  size_t i = 0;
  size_t j = 0;
  while (i < before.size() || j < after.size()) {
    ReshapePart part{.from = i, .count = 0, .to = j, .made = 0};
    int64_t left = i < before.size() ? before[i] : 1;
    int64_t right = j < after.size() ? after[j] : 1;
    const bool dropped = i < before.size() && left == 1 && right != 1;
    const bool added = j < after.size() && right == 1 && left != 1;
    if (i < before.size() && !added) ++i;
    if (j < after.size() && !dropped) ++j;
    if (dropped) right = 1;
    if (added) left = 1;
    while (left != right) {
      if (left < right && i < before.size()) {
        left *= before[i++];
      } else if (j < after.size()) {
        right *= after[j++];
      } else {
        break;  // not the same number of elements
      }
    }
    part.count = i - part.from;
    part.made = j - part.to;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace tilewright::graph
