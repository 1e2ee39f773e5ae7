// Structural equality, and hashing of expressions. Free variables are equal if they are the same
// variable; bound variables (of For and Let) if their binders correspond. Names do not matter.
#pragma once

#include <functional>

#include "base/hash.h"
#include "ir/expr.h"
#include "ir/stmt.h"

namespace tilewright::ir {

bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);

// Adds the content to `hasher`. `number_of` maps a free variable to a number (in a Dag: the
// position of its axis), so the hash does not depend on variable identities.
using VarNumbering = std::function<uint64_t(VarId)>;
void hash_into(Hasher& hasher, const Expr& expr, const VarNumbering& number_of);

}  // namespace tilewright::ir
