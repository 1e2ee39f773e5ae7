#include "cost/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace tilewright::cost {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"squared_error", "pairwise_rank"};

class SquaredError : public Loss {
 public:
  SquaredError(std::span<const Label> labels, std::span<const uint32_t> members)
      : labels_(labels.begin(), labels.end()), members_(members.begin(), members.end()) {}

  void add_gradients(std::span<const float> scores, std::span<float> gradient,
                     std::span<float> hessian) const override {
    for (const uint32_t i : members_) {
      gradient[i] += (scores[i] - labels_[i].y) * labels_[i].weight;
      hessian[i] += labels_[i].weight;
    }
  }

  double value(std::span<const float> scores) const override {
    double sum = 0, weight = 0;
    for (const uint32_t i : members_) {
      const double off = scores[i] - labels_[i].y;
      sum += labels_[i].weight * off * off;
      weight += labels_[i].weight;
    }
    return weight > 0 ? sum / weight : 0;
  }

 private:
  std::vector<Label> labels_;
  std::vector<uint32_t> members_;
};

class PairwiseRank : public Loss {
 public:
  PairwiseRank(std::span<const Label> labels, std::span<const uint32_t> members, uint64_t seed) {
    std::vector<uint32_t> sorted(members.begin(), members.end());
    std::ranges::sort(sorted, {}, [&](uint32_t i) { return std::pair(labels[i].group, i); });
    Rng rng(seed);
    for (size_t first = 0; first < sorted.size();) {
      size_t end = first;
      while (end < sorted.size() && labels[sorted[end]].group == labels[sorted[first]].group) ++end;
      add_pairs(labels, std::span(sorted).subspan(first, end - first), rng);
      first = end;
    }
    scale_weights(members.size());
  }

  void add_gradients(std::span<const float> scores, std::span<float> gradient,
                     std::span<float> hessian) const override {
    for (const Pair& pair : pairs_) {
      const float wrong = 1 / (1 + std::exp(scores[pair.better] - scores[pair.worse]));
      const float push = pair.weight * wrong;
      const float curve = push * (1 - wrong);
      gradient[pair.better] -= push;
      gradient[pair.worse] += push;
      hessian[pair.better] += curve;
      hessian[pair.worse] += curve;
    }
  }

  double value(std::span<const float> scores) const override {
    double sum = 0, weight = 0;
    for (const Pair& pair : pairs_) {
      sum += pair.weight * std::log1p(std::exp(static_cast<double>(scores[pair.worse]) -
                                               static_cast<double>(scores[pair.better])));
      weight += pair.weight;
    }
    return weight > 0 ? sum / weight : 0;
  }

 private:
  struct Pair {
    uint32_t better, worse;
    float weight;
  };

  static constexpr size_t kPartners = 24;  // pairs drawn per program of a large group

  void add_pair(std::span<const Label> labels, uint32_t a, uint32_t b) {
    if (labels[a].y < labels[b].y) std::swap(a, b);
    const float weight =
        (labels[a].y - labels[b].y) * std::min(sharing(labels[a]), sharing(labels[b]));
    if (weight > 0) pairs_.push_back({.better = a, .worse = b, .weight = weight});
  }

  // Without the factor y that labels_of applies for squared errors.
  static float sharing(const Label& label) {
    return label.y > 0 ? label.weight / label.y : label.weight;
  }

  void add_pairs(std::span<const Label> labels, std::span<const uint32_t> group, Rng& rng) {
    if (group.size() <= 2 * kPartners) {
      for (size_t i = 0; i < group.size(); ++i) {
        for (size_t j = 0; j < i; ++j) add_pair(labels, group[i], group[j]);
      }
      return;
    }
    for (const uint32_t program : group) {
      for (size_t k = 0; k < kPartners; ++k) {
        add_pair(labels, program, group[rng.below(group.size())]);
      }
    }
  }

  // Scaled so that the mean hessian of a program with score 0 is 1, as for squared errors of weight
  // 1.
  void scale_weights(size_t programs) {
    double sum = 0;
    for (const Pair& pair : pairs_) sum += pair.weight * 0.25 * 2;
    if (sum <= 0) return;
    const double scale = static_cast<double>(programs) / sum;
    for (Pair& pair : pairs_) pair.weight = static_cast<float>(pair.weight * scale);
  }

  std::vector<Pair> pairs_;
};

}  // namespace

std::span<const std::string_view> option_words(LossKind) { return kNames; }
std::string_view loss_name(LossKind kind) { return kNames[static_cast<size_t>(kind)]; }

Result<LossKind> parse_loss(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<LossKind>(found - kNames.begin());
  return fail(ErrorKind::BadInput, fmt::format("there is no loss '{}'; there are {} and {}", name,
                                               kNames[0], kNames[1]));
}

std::vector<Label> labels_of(const Samples& samples, double failure_weight) {
  CHECK(samples.group.size() == samples.size(), "{} groups of {} samples", samples.group.size(),
        samples.size());
  CHECK(samples.weight.empty() || samples.weight.size() == samples.size(), "{} weights of {}",
        samples.weight.size(), samples.size());
  std::vector<std::pair<uint32_t, double>> best;  // per group, sorted
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples.latency_ns[i] > 0) best.emplace_back(samples.group[i], samples.latency_ns[i]);
  }
  std::ranges::sort(best);
  std::vector<Label> labels(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const float given = samples.weight.empty() ? 1.0F : samples.weight[i];
    labels[i].group = samples.group[i];
    if (samples.latency_ns[i] > 0) {
      const auto fastest = std::ranges::lower_bound(best, std::pair{samples.group[i], 0.0});
      labels[i].y = static_cast<float>(fastest->second / samples.latency_ns[i]);
      labels[i].weight = labels[i].y * given;
    } else {
      labels[i].weight = static_cast<float>(failure_weight) * given;
    }
  }
  return labels;
}

std::unique_ptr<Loss> make_loss(LossKind kind, std::span<const Label> labels,
                                std::span<const uint32_t> members, uint64_t seed) {
  if (kind == LossKind::PairwiseRank) {
    return std::make_unique<PairwiseRank>(labels, members, seed);
  }
  return std::make_unique<SquaredError>(labels, members);
}

}  // namespace tilewright::cost
