// The interpreter: runs a loop-IR Function on plain arrays, slowly and obviously. It is the
// reference for every back end and is written for readability: one case per node, every index
// checked against its buffer, every value held in its exact type. It accepts the IR after any pass:
// nested or flat indices, vectors or scalars. Loops of any kind run as serial ones; for Bound loops
// that is as if all threads of a loop had finished before the next statement begins.
//
// It runs under the float control of a kernel, so that the processor flushes the same denormals in
// both (ir/type.h). Which results it flushes depends on its rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

// Called for each accessed element: buffer, flat row-major offset, and the current loop variables.
struct AccessEvent {
  ir::BufferId buffer = 0;
  int64_t offset = 0;
  bool is_store = false;
};
class Environment;  // values of the bound variables
using AccessObserver = std::function<void(const AccessEvent&, const Environment&)>;

class Environment {  // scalar I64 variables; a rebound variable hides the outer one
 public:
  const int64_t* find(ir::VarId var) const;
  void set(ir::VarId var, int64_t value);
  void erase(ir::VarId var);

 private:
  std::vector<std::pair<ir::VarId, int64_t>> values_;  // innermost last
};

struct InterpOptions {
  AccessObserver observer;
  // Limit of executed statements; exceeding it is an error, so that tests cannot hang.
  int64_t max_steps = int64_t{1} << 40;
};

// `arguments[k]` is the memory of function.arguments[k], in the storage format of its elements.
// Errors name buffer, index and statement: out of bounds, division by zero, read of an
// uninitialized element of an Allocate.
Status interpret(const ir::Function& function, std::span<void* const> arguments,
                 const InterpOptions& options = {});

}  // namespace tilewright::codegen
