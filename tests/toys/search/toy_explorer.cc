#include "toy_explorer.h"

#include <optional>

#include "search/drawing.h"
#include "space/variation.h"

namespace tilewright::toys {
namespace {

using search::Candidate;

struct ClimberOptions {
  bool far = false;

  static constexpr auto fields() {
    return std::tuple(option("far", &ClimberOptions::far, "all choices of a hole are neighbors"));
  }
};

class Climber : public search::Explorer {
 public:
  Climber(const search::ExplorerContext& context, const ClimberOptions& options, uint64_t salt)
      : context_(context),
        rng_(context.seed + salt),
        reach_(options.far ? space::Reach::All : space::Reach::Adjacent) {}

  std::vector<Candidate> ask(size_t count) override {
    std::vector<Candidate> answer;
    if (best_) {
      const schedule::Sketch& sketch = context_.sketches[best_->candidate.sketch];
      for (schedule::Genome& genome : space::neighbors(sketch, best_->candidate.genome, reach_)) {
        take({.sketch = best_->candidate.sketch, .genome = std::move(genome), .program = {}}, count,
             &answer);
      }
    }
    for (int draw = 0; draw < 1000 && answer.size() < count; ++draw) {
      const auto sketch = static_cast<uint16_t>(rng_.below(context_.sketches.size()));
      take({.sketch = sketch,
            .genome = schedule::sample(context_.sketches[sketch], rng_),
            .program = {}},
           count, &answer);
    }
    return answer;
  }

  void tell(std::span<const search::Outcome> outcomes) override {
    for (const search::Outcome& one : outcomes) {
      proposed_.insert(one.candidate.program);
      const bool is_better = !best_ || one.latency_ns < best_->latency_ns;
      if (one.latency_ns > 0 && one.candidate.sketch != search::kNoSketch && is_better) best_ = one;
    }
  }

 private:
  void take(Candidate candidate, size_t count, std::vector<Candidate>* answer) {
    if (answer->size() == count) return;
    context_.assessor->assess({&candidate, 1});
    if (!is_legal(candidate) || !proposed_.insert(candidate.program).second) return;
    answer->push_back(std::move(candidate));
  }

  search::ExplorerContext context_;
  Rng rng_;
  space::Reach reach_;
  std::optional<search::Outcome> best_;
  search::HashSet proposed_;
};

}  // namespace

search::ExplorerRow toy_explorer(uint64_t salt) {
  return make_row<std::unique_ptr<search::Explorer>, search::ExplorerContext>(
      "climber", "from the fastest to its neighbors", ClimberOptions{},
      [salt](const search::ExplorerContext& context, const ClimberOptions& options) {
        return std::make_unique<Climber>(context, options, salt);
      });
}

}  // namespace tilewright::toys
