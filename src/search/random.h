// The random explorer: draws a sketch uniformly, then each of its genes uniformly.
#pragma once

#include "search/explorers.h"

namespace tilewright::search {

std::unique_ptr<Explorer> make_random(const ExplorerContext& context);

ExplorerRow random_explorer();

}  // namespace tilewright::search
