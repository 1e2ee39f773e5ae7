// The beam explorer, for the ablation of Ansor's paper (OSDI 2020, section 7.1). Genomes are
// decided hole by hole, in the order of the sketch, and the `width` best are kept after each hole.
// Undecided holes are filled at random, so the model scores incomplete programs. That is why this
// search is worse than one over complete programs.
#pragma once

#include "search/explorers.h"

namespace tilewright::search {

struct BeamOptions {
  size_t width = 64;

  static constexpr auto fields() {
    return std::tuple(
        option("width", &BeamOptions::width, "genomes kept after each hole", {1, 1e6}));
  }
};

std::unique_ptr<Explorer> make_beam(const ExplorerContext& context,
                                    const BeamOptions& options = {});

ExplorerRow beam_explorer();

}  // namespace tilewright::search
