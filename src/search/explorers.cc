#include "search/explorers.h"

#include "search/beam.h"
#include "search/evolution.h"
#include "search/random.h"

namespace tilewright::search {

const ExplorerTable& explorers() {
  static const ExplorerTable table = ExplorerTable::built_in("search", {
                                                                           evolution_explorer(),
                                                                           random_explorer(),
                                                                           beam_explorer(),
                                                                       });
  return table;
}

}  // namespace tilewright::search
