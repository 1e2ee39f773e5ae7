// A toy explorer: from the fastest program so far to its neighbors, hole by hole; where all of them
// were asked for, samples.
#pragma once

#include "search/explorers.h"

namespace tilewright::toys {

// Another `salt` draws other samples: another explorer of the same name.
search::ExplorerRow toy_explorer(uint64_t salt = 0);

}  // namespace tilewright::toys
