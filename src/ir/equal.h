// Structural equality and hash. Free variables are equal when they are the same variable; bound
// ones (of For and Let) when they are bound at the same place. Names do not matter.
#pragma once

#include <functional>

#include "base/hash.h"
#include "ir/expr.h"
#include "ir/stmt.h"

namespace tilewright::ir {

bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);

// Feeds the content into `hasher`. `number_of` gives the number that stands for a free variable
// (for a Dag: the position of its axis), so the hash does not depend on identities.
using VarNumbering = std::function<uint64_t(VarId)>;
void hash_into(Hasher& hasher, const Expr& expr, const VarNumbering& number_of);
Hash128 structural_hash(const Stmt& stmt);

}  // namespace tilewright::ir
