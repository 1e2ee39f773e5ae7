// Tensor intrinsics: instructions that compute a small tensor operator at once. A row of the table
// is data. The emitters are in the back ends, for the loop IR node that `lower` creates.
//
//   vnni_dot_u8i8     acc[l] = sum over f of i32(a[f]) * i32(b[l, f])    l < 16, f < 4
//   avx512_bf16_dot   acc[l] = sum over f of f32(a[f]) * f32(b[l, f])    l < 16, f < 2
//   an AMX tile       acc[r, l] = sum over g, f of i32(a[r, g * 4 + f]) * i32(b[g, l, f])
//                     r < 16, l < 16, g < 16, f < 4; strided: r of a and acc, g of b
//
// The Dag of a row defines its function, types and extents. Its axes, spatial ones first, are the
// innermost loops that the intrinsic replaces: rows, which index the first operand; lanes, which
// index the second; and factors, which are summed. Operands and result are in memory like the
// tensors of the Dag, row-major. Where an operand is strided along an axis (the rows of a tile,
// whose distance is an operand of the instruction), its elements may have any stride;
// another operand along the same axis may not. Several rows may compute the same function; a
// `tensorize` step names one. Immutable; shared between threads.
//
// Open, because the loop IR has no such Dot (ir/expr.h): accumulators of F16, which has no
// arithmetic; TF32 factors, which need a permission to round operands; sums in an order that the
// vendor does not document, which no bitwise comparison with the interpreter can hold.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/inline_vector.h"
#include "base/name.h"
#include "target/capability.h"
#include "te/dag.h"

namespace tilewright::schedule {

// Elements of an operand, or of the result, may have any stride along this axis.
struct StridedAxis {
  size_t operand = 0;  // as TensorIntrinsic numbers them
  Name axis;
};

struct TensorIntrinsic {
  // The two operands, by TensorId of the Dag, and the result.
  static constexpr size_t kResult = 2;

  Name name;
  Capability capability;               // the requirement on the target
  std::shared_ptr<const te::Dag> dag;  // two placeholders, then a sum of their products
  std::vector<StridedAxis> strided{};
  ir::DotRounding rounding{};  // of sums of floats

  const te::Op& fold() const { return dag->ops().back(); }
  size_t axes() const { return spatial_axes() + fold().reduce_axes.size(); }
  size_t spatial_axes() const { return fold().axes.size(); }
  const te::Axis& axis(size_t k) const {
    return k < spatial_axes() ? fold().axes[k] : fold().reduce_axes[k - spatial_axes()];
  }
  int64_t extent(size_t axis) const { return this->axis(axis).extent.high; }
  bool reduces(size_t axis) const { return axis >= spatial_axes(); }
  bool is_strided(size_t operand, size_t axis) const;

  int64_t rows() const;     // iterations of the axes that index only the first operand; 1: none
  int64_t lanes() const;    // the same for the second operand
  int64_t factors() const;  // iterations of the reduce axes

  // The distance in elements that an operand, or the result, moves in memory along an axis; 0: it
  // does not move. Where the operand is strided, only whether it is 0 matters: `fits` compares.
  int64_t step(size_t operand, size_t axis) const;
  bool fits(size_t operand, size_t axis, int64_t distance) const;
  std::string to_string() const;  // its function, with types
};

using IntrinsicTable = std::span<const TensorIntrinsic>;

IntrinsicTable all_intrinsics();
// Null if there is none.
const TensorIntrinsic* find_intrinsic(Name name, IntrinsicTable table = all_intrinsics());

// The Dag acc[r, l] = sum over f of a[r, f] * b[l, f], in the type of the sum; without the axis r
// if there is one row.
std::shared_ptr<const te::Dag> dot_products(int64_t rows, int64_t lanes, int64_t factors,
                                            ir::Scalar a_type, ir::Scalar b_type, ir::Scalar sum);

// The loads that match the operands of the intrinsic if it sums `value`, with the factors in either
// order: one match, two if both orders have the same types, or none. Indices are ignored.
//
//   i32(B[k, j]) * i32(A[i, k])   as vnni_dot_u8i8   ->   {A[i, k], B[k, j]}
using IntrinsicOperands = std::array<const ir::Load*, 2>;
InlineVector<IntrinsicOperands, 2> match_operands(const TensorIntrinsic& intrinsic,
                                                  const ir::Expr& value);

}  // namespace tilewright::schedule
