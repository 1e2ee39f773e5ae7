// Bindings: values to be bound by Lets above a statement, in the order in which they were added.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::lower {

class Bindings {
 public:
  // A new variable for `value`; returns `value` itself if it is a variable or constant.
  ir::Expr bind(std::string_view name, ir::Expr value) {
    const ir::ExprKind kind = value.kind();
    if (kind == ir::ExprKind::Var || kind == ir::ExprKind::IntImm ||
        kind == ir::ExprKind::FloatImm) {
      return value;
    }
    ir::Expr var = ir::var(name, value.type());
    lets_.emplace_back(var, std::move(value));
    return var;
  }

  bool empty() const { return lets_.empty(); }

  // let a = ...; let b = ...; body. Clears the bindings.
  ir::Stmt wrap(ir::Stmt body) {
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) {
      body = ir::make_let(std::move(let->first), std::move(let->second), std::move(body));
    }
    lets_.clear();
    return body;
  }

 private:
  std::vector<std::pair<ir::Expr, ir::Expr>> lets_;
};

}  // namespace tilewright::lower
