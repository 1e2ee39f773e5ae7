// Attention, and parts of it: the products of queries and keys, alone and with their softmax.
//
//   transpose_batch_matmul          Q[b, seq, heads, dim] K[b, seq, heads, dim]
//                                   -> C[b, heads, seq, seq] = Q K^T
//   transpose_batch_matmul_softmax  the same, then softmax over the last axis -> Y
//   attention                       Q, K, V[b, heads, seq, dim]
//                                   -> Y[b, heads, seq, dim] = softmax(Q K^T / sqrt(dim)) V
//   attention_online                the same by blocks of keys (Dao et al., FlashAttention, NeurIPS
//                                   2022, section 3.1)
//
// Axes: b, h (heads), i (queries), j (keys), d (dim). Sums over dim, and over keys, reduce k.
//
// Stages of transpose_batch_matmul_softmax: `C[b, h, i, j]`, then M, E, S, R, Y of softmax.h.
// Stages of attention: C, then M, E, S, R, where E = exp((C - M) / sqrt(dim)); `O[b, h, i, d]` sum
// over k of E V; `Y[b, h, i, d]` = O * R.
//
// Stages of attention_online, where c (extent ceil(seq / block)) is the block and r a key in it:
//
//   C[b, h, i, j]                         sum over k of Q K
//   M[b, h, i, c]     over r              the largest C of the block
//   E[b, h, i, c, r]                      exp((C - M) / sqrt(dim)); 0 beyond the last key
//   S[b, h, i, c]     over r              sum of E
//   O[b, h, i, c, d]  over r              sum of E V
//   F[b, h, i, d]     over c              (m, l, o) = (M / sqrt(dim), S, O) combined by
//                                         m = max(m1, m2), l = l1 exp(m1 - m) + l2 exp(m2 - m),
//                                         o likewise; the identity is (lowest, 0, 0)
//   Y[b, h, i, d]                         o / l
//
// Only the products count as FLOP: 4 * b * heads * seq * seq * dim. For f16 and bf16 all stages but
// the last are f32.
#pragma once

#include <memory>

#include "te/ops/operator.h"

namespace tilewright::te {

struct AttentionShape {
  int64_t b = 1;
  int64_t heads = 1;
  int64_t seq = 1;
  int64_t dim = 1;
  ir::Scalar element = ir::Scalar::F32;
};

std::shared_ptr<const Dag> transpose_batch_matmul(const AttentionShape& shape);
std::shared_ptr<const Dag> transpose_batch_matmul_softmax(const AttentionShape& shape);
std::shared_ptr<const Dag> attention(const AttentionShape& shape);
std::shared_ptr<const Dag> attention_online(const AttentionShape& shape, int64_t block);

Operator transpose_batch_matmul_operator();
Operator transpose_batch_matmul_softmax_operator();
Operator attention_operator();
Operator attention_online_operator();

}  // namespace tilewright::te
