#include "space/placements.h"

#include <algorithm>
#include <utility>

namespace tilewright::space {
namespace {

// All ways to place the members when there are `depth` loops to choose from.
class Placements {
 public:
  Placements(const std::vector<PlacedMember>& members, const std::vector<int>& loops, int depth,
             bool roots)
      : members_(members), loops_(loops), depth_(depth), roots_(roots) {}

  std::vector<std::vector<int>> run() {
    place(0);
    return std::move(found_);
  }

 private:
  // The innermost loop at which member k may be computed: that of its outermost reader.
  int deepest(size_t k) const {
    int outermost = depth_;
    for (const int reader : members_[k].readers) {
      if (reader == kNestItself) continue;
      const auto r = static_cast<size_t>(reader);
      outermost = std::min(outermost, chosen_[r] == kInlined ? deepest(r) : chosen_[r]);
    }
    return outermost;
  }

  void place(size_t k) {
    if (found_.size() > kMaxPlacements) return;
    if (k == members_.size()) {
      found_.push_back(chosen_);
      return;
    }
    const int deepest_place = deepest(k);
    std::vector<int> places;
    if (members_[k].may_inline) places.push_back(kInlined);
    const int outermost = std::min(members_[k].outermost, depth_ - 1);
    if (outermost == kAtRoot && (roots_ || deepest_place == kAtRoot || depth_ == 0)) {
      places.push_back(kAtRoot);
    }
    for (const int loop : loops_) {
      if (loop <= deepest_place && loop >= outermost) places.push_back(loop);
    }
    for (const int chosen : places) {
      chosen_.push_back(chosen);
      place(k + 1);
      chosen_.pop_back();
    }
  }

  const std::vector<PlacedMember>& members_;
  const std::vector<int>& loops_;  // that are tried
  int depth_;
  bool roots_;
  std::vector<int> chosen_;
  std::vector<std::vector<int>> found_;
};

}  // namespace

std::vector<std::vector<int>> placements_of(const std::vector<PlacedMember>& members, int depth) {
  std::vector<int> all, ends;
  for (int k = 0; k < depth; ++k) all.push_back(k);
  if (depth > 0) ends.push_back(0);
  if (depth > 1) ends.push_back(depth - 1);
  const std::vector<int> last = depth > 0 ? std::vector<int>{depth - 1} : std::vector<int>{};
  std::vector<std::vector<int>> found;
  for (const auto& [loops, roots] : {std::pair(all, true), std::pair(ends, true),
                                     std::pair(ends, false), std::pair(last, false)}) {
    found = Placements(members, loops, depth, roots).run();
    if (found.size() <= kMaxPlacements) break;
  }
  return found;
}

}  // namespace tilewright::space
