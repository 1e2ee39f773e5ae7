#include "search/random.h"

#include <algorithm>
#include <utility>

#include "search/drawing.h"

namespace tilewright::search {
namespace {

constexpr size_t kMinDrawn = 256;       // assessed at once: the assessor is parallel
constexpr size_t kFruitlessDraws = 32;  // batches without new candidates before it gives up

class Random : public Explorer {
 public:
  explicit Random(const ExplorerContext& context)
      : context_(context),
        rng_(context.seed),
        is_small_(genomes_in(context.sketches) <= kSmallSpace) {
    if (is_small_) deal();
  }

  std::vector<Candidate> ask(size_t count) override {
    std::vector<Candidate> answer;
    size_t fruitless = 0;
    while (answer.size() < count && fruitless < kFruitlessDraws) {
      std::vector<Candidate> drawn = draw(std::max(kMinDrawn, 2 * (count - answer.size())));
      if (drawn.empty()) break;
      context_.assessor->assess(drawn);
      const size_t before = answer.size();
      for (size_t k = 0; k < drawn.size(); ++k) {
        if (answer.size() == count) {  // candidates that were not used are returned, in order
          for (size_t back = drawn.size(); is_small_ && back > k; --back) {
            dealt_.push_back(std::move(drawn[back - 1]));
          }
          break;
        }
        if (!is_legal(drawn[k]) || !proposed_.insert(drawn[k].program).second) continue;
        answer.push_back(std::move(drawn[k]));
      }
      fruitless = answer.size() > before ? 0 : fruitless + 1;
    }
    return answer;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) proposed_.insert(outcome.candidate.program);
  }

 private:
  // A small space is shuffled once and consumed from the end.
  void deal() {
    dealt_ = all_candidates(context_.sketches);
    for (size_t k = dealt_.size(); k > 1; --k) std::swap(dealt_[k - 1], dealt_[rng_.below(k)]);
  }

  std::vector<Candidate> draw(size_t count) {
    std::vector<Candidate> drawn;
    if (is_small_) {
      for (; drawn.size() < count && !dealt_.empty(); dealt_.pop_back()) {
        drawn.push_back(std::move(dealt_.back()));
      }
      return drawn;
    }
    drawn.reserve(count);
    for (size_t k = 0; k < count; ++k) {
      const auto sketch = static_cast<uint16_t>(rng_.below(context_.sketches.size()));
      drawn.push_back({.sketch = sketch,
                       .genome = schedule::sample(context_.sketches[sketch], rng_),
                       .program = {}});
    }
    return drawn;
  }

  ExplorerContext context_;
  Rng rng_;
  bool is_small_;
  std::vector<Candidate> dealt_;
  HashSet proposed_;
};

}  // namespace

std::unique_ptr<Explorer> make_random(const ExplorerContext& context) {
  return std::make_unique<Random>(context);
}

ExplorerRow random_explorer() {
  return make_row<std::unique_ptr<Explorer>, ExplorerContext>(
      "random", "samples of the space, without a cost model", NoOptions{},
      [](const ExplorerContext& context, const NoOptions&) { return make_random(context); });
}

}  // namespace tilewright::search
