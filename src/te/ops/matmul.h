// Matrix products, row-major.
//
//   matmul        A[m, k] B[k, n]       -> C[m, n]       axes i, j; reduce k
//   batch_matmul  A[b, m, k] B[b, k, n] -> C[b, m, n]    axes b, i, j; reduce k
//
// With transpose_a or transpose_b the operand is transposed in memory: A[k, m], B[n, k].
// Accumulators are f32 for f16 and bf16 and i32 for narrow integers; C has the type of A, or i32.
// dtype is the type of A; dtype_b that of B, if different (u8 times i8).
#pragma once

#include <memory>
#include <optional>

#include "te/ops/operator.h"

namespace tilewright::te {

struct MatmulShape {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  ir::Scalar element = ir::Scalar::F32;      // of A
  std::optional<ir::Scalar> element_b = {};  // A's by default
  bool transpose_a = false;
  bool transpose_b = false;
};

std::shared_ptr<const Dag> matmul(const MatmulShape& shape);
std::shared_ptr<const Dag> batch_matmul(int64_t batch, const MatmulShape& shape);

Operator matmul_operator();
Operator batch_matmul_operator();

}  // namespace tilewright::te
