// The interpreter: runs a loop-IR Function on plain arrays, slowly and obviously. It is the
// reference for every back end, so it is written to be read: one case per node, every index checked
// against its buffer, every value held in the type it has. It runs the IR after any pass: nested
// or flat indices, vectors or scalars, Unrolled and Vectorized loops as serial ones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

// Called on each element accessed: buffer, flat row-major offset, and the loop variables in force.
struct AccessEvent {
  ir::BufferId buffer = 0;
  int64_t offset = 0;
  bool is_store = false;
};
class Environment;  // values of the variables that are bound now
using AccessObserver = std::function<void(const AccessEvent&, const Environment&)>;

class Environment {  // scalar I64 variables; a variable bound again hides the outer one
 public:
  const int64_t* find(ir::VarId var) const;
  void set(ir::VarId var, int64_t value);
  void erase(ir::VarId var);

 private:
  std::vector<std::pair<ir::VarId, int64_t>> values_;  // innermost last
};

struct InterpOptions {
  AccessObserver observer;
  int64_t max_steps = int64_t{1} << 40;  // statements; more is an error, so tests cannot hang
};

// `arguments[k]` is the memory of function.arguments[k], in the element's own storage format. The
// error names buffer, index and statement: out of bounds, division by zero, read of a never
// written element of an Allocate.
Status interpret(const ir::Function& function, std::span<void* const> arguments,
                 const InterpOptions& options = {});

}  // namespace tilewright::codegen
