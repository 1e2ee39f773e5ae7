// Workload: a Dag with its float permissions and the roles of its operands. Task: a Workload for a
// Target. Both are values with keys by content: two workloads that compute the same function on the
// same kinds of operands have the same key, even if their names and those of their axes differ. A
// key covers shapes, types, expressions, roles, layouts, enclosing arrays, alignments and
// permissions. It excludes names, texts, and the hints of axes and operators, which guide the
// search and do not change the function. Keys are stored: raise their version when their content
// changes. Immutable; shared between threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "layout/layout.h"
#include "target/target.h"
#include "te/dag.h"

namespace tilewright {

// Changes to floating-point results that lowering may make.
struct FloatPermissions {
  bool reassociate = true;
  bool contract = true;     // a * b + c as fma
  bool approximate = true;  // our exp, log, etc., within their ulp bounds
  bool fold = true;         // fold batch norm into weights
  bool online_softmax = true;
  bool winograd = false;
  bool reduced_precision = false;
  bool denormals = false;  // keep them; without it they count as zero (ir/type.h)

  bool operator==(const FloatPermissions&) const = default;
};

enum class Role : uint8_t { Input, Constant, Output };

// `layout` is the order of its elements; `within` says whether they are a part of a larger array.
// The two are independent: a blocked operand that fills its memory has a layout, a slice of a
// row-major array is within another.
struct Operand {
  te::TensorId tensor = 0;
  Role role = Role::Input;
  layout::Layout layout;  // row-major for inputs and outputs; `free` for constants
  int alignment = 64;     // bytes, guaranteed by the caller
  // The extents of the row-major array that it is a part of, starting at the caller's pointer: each
  // at least that of the tensor. Empty: it fills its memory.
  std::vector<int64_t> within{};

  bool is_part() const { return !within.empty(); }
  // The layout of its elements in the caller's array: `layout`, or row-major within `within`.
  layout::Layout storage() const;

  bool operator==(const Operand&) const = default;
};

struct Workload {
  std::shared_ptr<const te::Dag> dag;
  FloatPermissions permissions;
  std::vector<Operand> operands;  // inputs in Dag order, then outputs in Dag order
  std::string text;               // readable form, e.g. `matmul:m=512,n=512,k=512,dtype=f32`

  Hash128 key() const;  // hash of the content, without names and text
  const Operand& operand_of(te::TensorId tensor) const;
};

// `constants` names the placeholders known at compile time (a CHECK if there is no such
// placeholder).
Workload make_workload(std::shared_ptr<const te::Dag> dag,
                       const std::vector<std::string>& constants, std::string text,
                       FloatPermissions permissions = {});

// Makes an input or output a part of a larger array (Operand::within).
//
//   Y[1, 8, 8, 32] in [1, 8, 8, 96]: element (0, y, x, c) is at (y * 8 + x) * 96 + c
struct OperandPart {
  std::string tensor;  // name of the tensor
  std::vector<int64_t> extents;
  int alignment = 64;  // of its first element, in bytes: a power of two up to 64
};
Status set_part(Workload& workload, const OperandPart& part);

struct Task {
  Workload workload;
  Target target;

  Hash128 key() const;
};

}  // namespace tilewright
