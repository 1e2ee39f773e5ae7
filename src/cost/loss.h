// Loss: the error of the scores of measured programs, and its gradients. Trees are fitted to it.
//
// Losses are defined on programs. Each row gets the gradient of its program, because the score of a
// program is the sum over its rows. Labels are y = best latency of the group / latency, in (0, 1],
// and 0 for failures.
//
//   SquaredError   w/2 (score - y)^2 with w = y, and a separate weight for failures (Ansor, OSDI
//                  2020, section 5.2, gives failures the weight 0)
//   PairwiseRank   w log(1 + exp(-(score_i - score_j))) over pairs of one group with y_i > y_j,
//                  w = y_i - y_j: the order of fast programs matters most
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
// The spelling in options (base/options.h).
std::span<const std::string_view> option_words(LossKind);
std::string_view loss_name(LossKind kind);  // `squared_error`
Result<LossKind> parse_loss(std::string_view name);

struct Label {
  float y = 0;
  float weight = 1;
  uint32_t group = 0;
};

// Labels of measured samples.
std::vector<Label> labels_of(const Samples& samples, double failure_weight);

class Loss {
 public:
  virtual ~Loss() = default;
  // Leaves other programs unchanged: fill both with 0 first.
  virtual void add_gradients(std::span<const float> scores, std::span<float> gradient,
                             std::span<float> hessian) const = 0;
  virtual double value(std::span<const float> scores) const = 0;
};

// A loss over the programs `members` of the labels. `seed` samples pairs if there are too many.
std::unique_ptr<Loss> make_loss(LossKind kind, std::span<const Label> labels,
                                std::span<const uint32_t> members, uint64_t seed);

}  // namespace tilewright::cost
