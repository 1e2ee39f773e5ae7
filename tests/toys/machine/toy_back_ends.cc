#include <algorithm>
#include <iterator>

#include "codegen/back_ends/back_ends.h"
#include "tests/toys/machine/back_end/toy_back_end.h"
#include "tests/toys/machine/loader/toy_loader.h"
#include "tests/toys/machine/toy_machine.h"

namespace tilewright::toys {

std::vector<codegen::BackEnd> other_back_ends() {
  std::vector<codegen::BackEnd> rows;
  std::ranges::copy_if(codegen::all_back_ends(), std::back_inserter(rows),
                       [](const codegen::BackEnd& row) {
                         return !row.makes_artifacts() || !row.serves(toy_target());
                       });
  return rows;
}

std::vector<codegen::BackEnd> back_ends_with_toy() {
  std::vector<codegen::BackEnd> rows = other_back_ends();
  rows.push_back(toy_back_end());
  return rows;
}

}  // namespace tilewright::toys
