// Loss: how wrong the scores of measured programs are, and its gradients. What trees are fitted to.
//
// Both speak of programs; each row of a program gets the program's gradient, because the score is
// the sum over its rows. Labels are y = best latency of the group / latency, in (0, 1], and 0 for
// failures.
//
//   SquaredError   w/2 (score - y)^2 with w = y, for failures a weight of their own (Ansor, OSDI
//                  2020, section 5.2, whose failures weigh nothing)
//   PairwiseRank   w log(1 + exp(-(score_i - score_j))) over pairs of one group with y_i > y_j,
//                  w = y_i - y_j: the order of the fast ones matters most
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/samples.h"

namespace tilewright::cost {

enum class LossKind : uint8_t { SquaredError, PairwiseRank };
std::span<const std::string_view> option_words(LossKind);  // as options write it (base/options.h)
std::string_view loss_name(LossKind kind);                 // `squared_error`
Result<LossKind> parse_loss(std::string_view name);

struct Label {
  float y = 0;
  float weight = 1;
  uint32_t group = 0;
};

// Labels of samples that were measured.
std::vector<Label> labels_of(const Samples& samples, double failure_weight);

class Loss {
 public:
  virtual ~Loss() = default;
  // Adds nothing to programs it does not know: fill with 0 first.
  virtual void add_gradients(std::span<const float> scores, std::span<float> gradient,
                             std::span<float> hessian) const = 0;
  virtual double value(std::span<const float> scores) const = 0;
};

// Over the programs `members` of the labels. `seed` draws pairs where there are too many for all.
std::unique_ptr<Loss> make_loss(LossKind kind, std::span<const Label> labels,
                                std::span<const uint32_t> members, uint64_t seed);

}  // namespace tilewright::cost
