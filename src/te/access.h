// Access analysis of one operator: which tensors its body reads, at which indices. Computed once,
// when the Dag is built.
//
// Axes are numbered: the operator's own axes first (0 .. axes-1), then its reduce axes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arith/affine.h"
#include "ir/expr.h"

namespace tilewright::te {

// floor(of / divisor) mod modulus, where `of` is affine over axis numbers: the group of a channel,
// the digits of a reshaped index, the tap of a transposed convolution.
struct Quotient {
  arith::Affine of;
  int64_t divisor = 1;  // positive
  int64_t modulus = 0;  // 0: none

  bool operator==(const Quotient&) const = default;
};

inline constexpr size_t kMaxOpAxes = 64;  // of an operator, reduce axes included

// In a quasi-affine index, variable kFirstQuotient + k is quotient k of the operator.
inline constexpr uint32_t kFirstQuotient = kMaxOpAxes;

// One index of one read. An index that is neither affine nor quasi-affine is data-dependent: it may
// be any index of the dimension.
struct AccessDim {
  bool affine = false;
  bool quasi_affine = false;  // not affine, but a sum of axes and quotients
  arith::Affine index;        // over axis numbers, when affine; and over quotients
  uint64_t axes = 0;          // bit a: axis number a occurs in the index, affine or not

  // The axis, if the index is that axis plus a constant.
  std::optional<uint32_t> shifted_axis() const;
  bool is_constant() const { return affine && index.is_constant(); }
};

// One Load of the body, also inside indices; Loads of the same tensor and indices are one.
struct Access {
  ir::BufferId tensor = 0;
  std::vector<AccessDim> dims;
  bool guarded =
      false;  // read only in arms of a Select: indices may be out of bounds where it is not taken
};

struct OpAccess {
  std::vector<Access> reads;
  std::vector<Quotient> quotients;
  int64_t instructions = 0;         // estimate per element of the body, without its indices
  bool has_branch = false;          // a Select
  bool has_expensive_call = false;  // exp, log, tanh, erf, sigmoid, pow
};

struct Op;
OpAccess analyze_access(const Op& op);

}  // namespace tilewright::te
