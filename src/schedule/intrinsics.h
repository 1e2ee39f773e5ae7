// The tensor intrinsics: instructions that compute a small tensor operator at once. A row of the
// table is data; emitters are in the back ends, for the node of the loop IR that `lower` makes.
//
//   vnni_dot_u8i8     acc[l] = sum over f of i32(a[f]) * i32(b[l, f])    l < 16, f < 4
//   avx512_bf16_dot   acc[l] = sum over f of f32(a[f]) * f32(b[l, f])    l < 16, f < 2
//
// The Dag of a row says what is computed, on which types and in which extents; operands and result
// lie in memory as its tensors do, row-major. No two rows compute the same. Immutable; shared
// between threads.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "base/inline_vector.h"
#include "base/name.h"
#include "target/capability.h"
#include "te/dag.h"

namespace tilewright::schedule {

struct TensorIntrinsic {
  Name name;
  Capability capability;               // what a target needs to have
  std::shared_ptr<const te::Dag> dag;  // two placeholders, then a sum over one axis

  const te::Op& fold() const { return dag->ops().back(); }
  int64_t lanes() const { return fold().axes[0].extent.high; }
  int64_t factors() const { return fold().reduce_axes[0].extent.high; }
  // How many elements operand `operand` moves in memory along the lanes and along the factors.
  int64_t lane_step(size_t operand) const;
  int64_t factor_step(size_t operand) const;
  std::string to_string() const;  // what it computes, with the types
};

std::span<const TensorIntrinsic> all_intrinsics();
const TensorIntrinsic* find_intrinsic(Name name);  // null when there is none

// The loads that stand for the operands of the intrinsic where `value` is what it sums, with the
// factors in either order: one way, two where both orders are of the same types, or none. Indices
// are not looked at.
//
//   i32(B[k, j]) * i32(A[i, k])   as vnni_dot_u8i8   ->   {A[i, k], B[k, j]}
using IntrinsicOperands = std::array<const ir::Load*, 2>;
InlineVector<IntrinsicOperands, 2> match_operands(const TensorIntrinsic& intrinsic,
                                                  const ir::Expr& value);

}  // namespace tilewright::schedule
