// The tables of loaders, apart from those of back ends: a run worker links no compiler.
#include <algorithm>
#include <iterator>

#include "runtime/host/loaders.h"
#include "tests/toys/machine/loader/toy_loader.h"
#include "tests/toys/machine/toy_machine.h"

namespace tilewright::toys {

std::vector<runtime::Loader> other_loaders() {
  std::vector<runtime::Loader> rows;
  std::ranges::copy_if(runtime::all_loaders(), std::back_inserter(rows),
                       [](const runtime::Loader& row) { return !row.serves(toy_target()); });
  return rows;
}

std::vector<runtime::Loader> loaders_with_toy() {
  std::vector<runtime::Loader> rows = other_loaders();
  rows.push_back(toy_loader());
  return rows;
}

}  // namespace tilewright::toys
