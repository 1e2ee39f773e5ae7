// Landscapes: synthetic spaces whose best program is known, for testing explorers.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "search/explorer.h"

namespace tilewright::search {

struct Landscape {
  std::string_view name;
  std::vector<schedule::Sketch> sketches;
  std::function<double(const Candidate&)> latency_ns;  // 0: illegal
  double best_ns = 1;                                  // minimum over all programs
};

// A hole for the sizes of `levels` - 1 tiles of an axis, and a hole for any other decision.
schedule::Hole tile_hole(int64_t extent, int levels, std::string_view stage);
schedule::Hole choice_hole(size_t size, std::string_view stage);

Landscape separable_tiles();    // each axis has independent best tiles, in one of three sketches
Landscape coupled_pairs();      // the tiles of two axes must fit a register file together
Landscape deceptive_plateau();  // mostly flat, and most slopes lead to a local optimum
Landscape needle();             // each correct gene helps a little; one choice in 12 is correct
std::vector<Landscape> all_landscapes();

// Scores by the landscape itself with noise: the logarithm of the speed plus a value in [-noise,
// noise] that depends only on the program. If `blind`, all scores are 0.
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

// Calls ask and tell until `trials` candidates are reported or none are left. Returns the reported
// latencies in order.
std::vector<double> explore(Explorer& explorer, const Landscape& landscape, size_t trials,
                            size_t at_once);

}  // namespace tilewright::search
