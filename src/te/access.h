// Access analysis of one operator, from its body: what it reads and how (Ansor §1.3). Computed
// once when the Dag is built.
//
// Axes are numbered: the operator's own axes first (0 .. axes-1), then its reduce axes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arith/affine.h"
#include "ir/expr.h"

namespace tilewright::te {

// One index of one read.
struct AccessDim {
  bool affine = false;  // false: data-dependent or not affine: any element of the dimension
  arith::Affine index;  // over axis numbers, when affine
  uint64_t axes = 0;    // bit a: axis number a occurs in the index, affine or not

  // The axis when the index is that axis plus a constant.
  std::optional<uint32_t> shifted_axis() const;
  bool is_constant() const { return affine && index.is_constant(); }
};

// One Load in the body (each distinct (tensor, indices) once). Loads inside indices count too.
struct Access {
  ir::BufferId tensor = 0;
  std::vector<AccessDim> dims;
  bool guarded =
      false;  // only read inside Select arms: indices may leave the tensor where not taken
};

struct OpAccess {
  std::vector<Access> reads;
  bool has_branch = false;          // a Select
  bool has_expensive_call = false;  // exp, log, tanh, erf, sigmoid, pow
};

struct Op;
OpAccess analyse_access(const Op& op);  // an operator has at most 64 axes

}  // namespace tilewright::te
