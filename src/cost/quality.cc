#include "cost/quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace tilewright::cost {
namespace {

// Speed: higher is better; a failure is the worst.
double speed_of(double latency_ns) { return latency_ns > 0 ? 1 / latency_ns : 0; }

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double rank = static_cast<double>(first + 1 + end) / 2;
    for (; first < end; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

// Pearson correlation of the ranks; 0 if one side is constant.
double rank_correlation(std::span<const double> scores, std::span<const double> speeds) {
  const std::vector<double> a = ranks_of(scores), b = ranks_of(speeds);
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Over pairs with different speeds; equal scores count half.
double pairwise_accuracy(std::span<const double> scores, std::span<const double> speeds) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (speeds[i] == speeds[j]) continue;
      pairs += 1;
      if (scores[i] == scores[j]) {
        right += 0.5;
      } else if ((scores[i] > scores[j]) == (speeds[i] > speeds[j])) {
        right += 1;
      }
    }
  }
  return pairs > 0 ? right / pairs : 0;
}

// Indices, highest value first; equal values keep their order.
std::vector<size_t> best_first(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  return order;
}

}  // namespace

Quality quality_of(std::span<const float> scores, std::span<const double> latency_ns, size_t k) {
  CHECK(scores.size() == latency_ns.size(), "{} scores of {}", scores.size(), latency_ns.size());
  Quality quality{.programs = scores.size()};
  if (scores.empty()) return quality;
  const std::vector<double> given(scores.begin(), scores.end());
  std::vector<double> speeds;
  std::ranges::transform(latency_ns, std::back_inserter(speeds), speed_of);
  quality.rank_correlation = rank_correlation(given, speeds);
  quality.pairwise_accuracy = pairwise_accuracy(given, speeds);

  const std::vector<size_t> by_score = best_first(given), by_speed = best_first(speeds);
  quality.k = std::clamp<size_t>(k > 0 ? k : scores.size() / 4, 1, scores.size());
  const size_t count = quality.k;
  // Programs as fast as the k-th are among the k best too.
  const double min_speed = speeds[by_speed[count - 1]];
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) found += speeds[by_score[i]] >= min_speed ? 1 : 0;
  quality.recall_at_k = static_cast<double>(found) / static_cast<double>(count);

  const double best = speeds[by_speed[0]];
  double fastest = 0;
  for (size_t i = 0; i < std::min<size_t>(5, scores.size()) && best > 0; ++i) {
    fastest = std::max(fastest, speeds[by_score[i]]);
    if (i == 0) quality.top1 = fastest / best;
    quality.top5 = fastest / best;
  }
  return quality;
}

}  // namespace tilewright::cost
