#include "codegen/llvm/atoms.h"

#include <algorithm>

#include "ir/equal.h"

namespace tilewright::codegen {
namespace {

constexpr int64_t kAtomKeys = int64_t{1} << 33;  // above every VarId

}  // namespace

int64_t AtomTable::key(const ir::Expr& atom) {
  if (const auto* var = atom.as<ir::Var>()) return var->id;
  if (const auto found = numbers_.find(atom.get()); found != numbers_.end()) {
    return kAtomKeys + found->second;
  }
  const auto same =
      std::ranges::find_if(atoms_, [&](const ir::Expr& known) { return ir::equal(known, atom); });
  const int64_t position = same - atoms_.begin();
  if (same == atoms_.end()) atoms_.push_back(atom);
  numbers_[atom.get()] = position;  // the function being emitted owns the node
  return kAtomKeys + position;
}

}  // namespace tilewright::codegen
