#include "lower/simplify.h"

#include "arith/simplify.h"

namespace tilewright::lower {

void simplify(ir::Function& function, const PassContext&) {
  function.body = arith::simplify(function.body);
}

}  // namespace tilewright::lower
