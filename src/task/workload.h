// Workload: a Dag with its permissions and the roles of its operands. Task: a Workload for a
// Target. Both are values with keys by content: two workloads that compute the same on operands of
// the same kind have one key, whatever they and their axes are called. A key holds shapes, types,
// expressions, roles, layouts, places, alignments and permissions; it leaves out names, texts, and
// the hints of axes and operators, which say how to search and not what is computed. Keys are
// stored: their version is raised by hand when what enters them changes. Immutable; shared between
// threads.
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

// What lowering may change about floating-point results.
struct FloatPermissions {
  bool reassociate = true;
  bool contract = true;     // a * b + c as fma
  bool approximate = true;  // our exp and the like, within their ulp
  bool fold = true;         // batch norm into weights
  bool online_softmax = true;
  bool winograd = false;
  bool reduced_precision = false;

  bool operator==(const FloatPermissions&) const = default;
};

enum class Role : uint8_t { Input, Constant, Output };

// How its own elements are laid out (`layout`) and whether they are a part of a larger array
// (`within`) are two questions: a blocked operand that fills its memory has a layout, a slice of a
// row-major array has a place.
struct Operand {
  te::TensorId tensor = 0;
  Role role = Role::Input;
  layout::Layout layout;  // row-major for inputs and outputs; `free` for constants
  int alignment = 64;     // bytes, guaranteed by the caller
  // The extents of the row-major array that it is a part of, from where the caller points on:
  // each at least the tensor's own. Empty: it fills its memory.
  std::vector<int64_t> within{};

  bool is_part() const { return !within.empty(); }
  // Where its elements lie in the caller's array: that of `within`, or of `layout`. A part is
  // row-major.
  layout::Layout storage() const;

  bool operator==(const Operand&) const = default;
};

struct Workload {
  std::shared_ptr<const te::Dag> dag;
  FloatPermissions permissions;
  std::vector<Operand> operands;  // inputs in Dag order, then outputs in Dag order
  std::string text;               // readable form, e.g. `matmul:m=512,n=512,k=512,dtype=f32`

  Hash128 key() const;  // of content: not of names or text
  const Operand& operand_of(te::TensorId tensor) const;
};

// `constants` names the placeholders known at compile time (a CHECK when there is none such).
Workload make_workload(std::shared_ptr<const te::Dag> dag,
                       const std::vector<std::string>& constants, std::string text,
                       FloatPermissions permissions = {});

// Makes an input or output a part of a larger array (Operand::within).
//
//   Y[1, 8, 8, 32] in [1, 8, 8, 96]: element (0, y, x, c) lies at (y * 8 + x) * 96 + c
struct OperandPart {
  std::string tensor;  // its name
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
