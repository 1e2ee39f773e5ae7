// A toy explorer: from the fastest program so far to its neighbors, hole by hole; where all of them
// were asked for, samples.
#pragma once

#include "search/explorers.h"

namespace tilewright::toys {

search::ExplorerRow toy_explorer();

}  // namespace tilewright::toys
