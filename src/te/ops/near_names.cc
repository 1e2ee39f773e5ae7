#include "te/ops/near_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace tilewright::te {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool starts_with(std::string_view text, std::string_view prefix) {
  return !prefix.empty() && prefix.size() <= text.size() &&
         std::ranges::equal(prefix, text.substr(0, prefix.size()), {}, lower, lower);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known,
                                    size_t limit) {
  constexpr size_t kLongest = 64;  // longer than all known names; limits hostile input
  if (name.size() > kLongest) return {};
  std::vector<std::pair<int, size_t>> near;  // distance, position in `known`
  for (size_t k = 0; k < known.size(); ++k) {
    const std::string& candidate = known[k];
    const int distance = starts_with(candidate, name) ? 0 : edit_distance(name, candidate);
    const int allowed = 1 + static_cast<int>(std::min(name.size(), candidate.size())) / 3;
    if (distance <= allowed) near.emplace_back(distance, k);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (size_t k = 0; k < std::min(limit, near.size()); ++k) names.push_back(known[near[k].second]);
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::vector<std::string> near = near_names(name, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

}  // namespace tilewright::te
