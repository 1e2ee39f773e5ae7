#include "search/beam.h"

#include <algorithm>
#include <utility>

#include "search/batch.h"
#include "search/drawing.h"

namespace tilewright::search {
namespace {

constexpr size_t kChoices = 16;  // choices of a hole tried per partial genome, at most
constexpr int kFills = 3;        // attempts to fill a partial genome legally
constexpr int kSearches = 8;     // beams per call, if the first ones give too few

class Beam : public Explorer {
 public:
  Beam(const ExplorerContext& context, size_t width)
      : context_(context), rng_(context.seed), width_(std::max<size_t>(width, 1)) {
    for (const schedule::Sketch& sketch : context.sketches) {
      depth_ = std::max(depth_, sketch.holes.size());
    }
  }

  std::vector<Candidate> ask(size_t count) override {
    std::vector<Candidate> answer;
    if (context_.sketches.empty()) return answer;
    for (int k = 0; k < kSearches && answer.size() < count; ++k) {
      for (Candidate& candidate : search()) {
        if (answer.size() == count) break;
        if (!proposed_.insert(candidate.program).second) continue;
        answer.push_back(std::move(candidate));
      }
    }
    std::ranges::sort(answer, {}, [](const Candidate& candidate) {
      return std::pair(-candidate.score, candidate.program);
    });
    return answer;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) proposed_.insert(outcome.candidate.program);
  }

 private:
  // Complete genomes that were never proposed, best first.
  std::vector<Candidate> search() {
    std::vector<Candidate> beam = begin();
    for (size_t hole = 0; hole < depth_ && !beam.empty(); ++hole) {
      std::vector<Candidate> wider;
      for (const Candidate& partial : beam) decide(partial, hole, &wider);
      beam = keep_best(std::move(wider), hole + 1);
    }
    return beam;
  }

  // At the start, every sketch has its share of the beam.
  std::vector<Candidate> begin() {
    std::vector<Candidate> beam;
    for (size_t k = 0; k < std::max(width_, context_.sketches.size()); ++k) {
      const auto sketch = static_cast<uint16_t>(k % context_.sketches.size());
      beam.push_back({.sketch = sketch,
                      .genome = schedule::sample(context_.sketches[sketch], rng_),
                      .program = {}});
    }
    return keep_best(std::move(beam), 0);
  }

  // The partial genome with each choice of the hole, or with some if there are many.
  void decide(const Candidate& partial, size_t hole, std::vector<Candidate>* out) {
    const schedule::Sketch& sketch = context_.sketches[partial.sketch];
    out->push_back(partial);
    if (hole >= sketch.holes.size()) return;
    const size_t size = sketch.holes[hole].size();
    for (size_t k = 0; k < std::min(size, kChoices); ++k) {
      const size_t choice = size <= kChoices ? k : rng_.below(size);
      Candidate next = partial;
      next.genome.genes[hole] = static_cast<uint16_t>(choice);
      fill(&next, hole + 1);
      out->push_back(std::move(next));
    }
  }

  void fill(Candidate* candidate, size_t from) {
    const std::vector<schedule::Hole>& holes = context_.sketches[candidate->sketch].holes;
    for (size_t h = from; h < holes.size(); ++h) {
      candidate->genome.genes[h] = static_cast<uint16_t>(rng_.below(holes[h].size()));
    }
  }

  // The best by score with distinct programs. Partial genomes whose completion is illegal are
  // completed again a few times. Complete genomes must not have been proposed before.
  std::vector<Candidate> keep_best(std::vector<Candidate> candidates, size_t decided) {
    CandidatePool pool(context_.assessor);
    for (int attempt = 0; attempt < kFills && !candidates.empty(); ++attempt) {
      context_.assessor->assess(candidates);
      std::vector<Candidate> again;
      for (Candidate& candidate : candidates) {
        if (is_legal(candidate)) {
          pool.propose(std::move(candidate));
        } else if (decided < context_.sketches[candidate.sketch].holes.size()) {
          fill(&candidate, decided);
          again.push_back(std::move(candidate));
        }
      }
      candidates = std::move(again);
    }
    pool.assess();
    std::vector<Candidate> best;
    for (const size_t k : by_score(pool.kept())) {
      const Candidate& candidate = pool.kept()[k];
      if (decided == depth_ && proposed_.contains(candidate.program)) continue;
      if (best.size() < width_) best.push_back(candidate);
    }
    return best;
  }

  ExplorerContext context_;
  Rng rng_;
  size_t width_;
  size_t depth_ = 0;  // of the sketch with most holes
  HashSet proposed_;
};

}  // namespace

std::unique_ptr<Explorer> make_beam(const ExplorerContext& context, const BeamOptions& options) {
  return std::make_unique<Beam>(context, options.width);
}

ExplorerRow beam_explorer() {
  return make_row<std::unique_ptr<Explorer>, ExplorerContext>(
      "beam", "decides hole by hole and keeps the best, guided by the cost model", BeamOptions{},
      make_beam);
}

}  // namespace tilewright::search
