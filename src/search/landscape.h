// Landscapes: made spaces whose best program is known, to try explorers on. For tests.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "search/explorer.h"

namespace tilewright::search {

struct Landscape {
  std::string_view name;
  std::vector<schedule::Sketch> sketches;
  std::function<double(const Candidate&)> latency_ns;  // 0: not legal
  double best_ns = 1;                                  // of all programs
};

// A hole for the sizes of `levels` - 1 tiles of an axis, and one for any other decision.
schedule::Hole tile_hole(int64_t extent, int levels, std::string_view stage);
schedule::Hole choice_hole(size_t size, std::string_view stage);

Landscape separable_tiles();    // every axis has its own best tiles, in one of three sketches
Landscape coupled_pairs();      // tiles of two axes must fit a register file together
Landscape deceptive_plateau();  // most is flat, and most of the slopes lead to the lesser valley
Landscape needle();             // each gene that is right helps a little; one choice in 12 is
std::vector<Landscape> all_landscapes();

// Scores by the landscape itself, blurred by `noise`: the logarithm of the speed plus something
// from -noise to noise that depends on the program only. Scores 0 for all when it is `blind`.
class LandscapeAssessor : public Assessor {
 public:
  explicit LandscapeAssessor(const Landscape& landscape, double noise = 0, bool blind = false,
                             size_t threads = 1)
      : landscape_(landscape), noise_(noise), blind_(blind), threads_(threads) {}

  void assess(std::span<Candidate> candidates) override;
  size_t assessed() const { return assessed_; }

 private:
  void assess_one(Candidate& candidate) const;

  const Landscape& landscape_;
  double noise_;
  bool blind_;
  size_t threads_;
  size_t assessed_ = 0;
};

// Asks and tells until `trials` candidates are told or none are left; the latencies told, in order.
std::vector<double> explore(Explorer& explorer, const Landscape& landscape, size_t trials,
                            size_t at_once);

}  // namespace tilewright::search
