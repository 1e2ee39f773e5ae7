// The letters of an `attention` node, one per dimension (te/ops/einsum.h), by their role.
//
//   q=bigrd  k=bjgd  v=bjge  scores=bgrij  out=bigre
//     batch bg   query ir   key j   inner d   width e
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "graph/attributes.h"

namespace tilewright::graph {

// Operands: q, k, v, then masks.
inline constexpr size_t kFirstMask = 3;
inline constexpr size_t kMaxMasks = 2;

struct AttentionLetters {
  std::string q, k, v, out;
  std::string scores;  // batches and queries in any order, the key last
  std::string batch;   // of q, k, v and out
  std::string query;   // of q and out: queries, and heads that share their keys and values
  std::string key;     // of k and v, one
  std::string inner;   // of q and k, summed
  std::string width;   // of v and out

  std::string rows() const { return scores.substr(0, scores.size() - 1); }
};

// From the attributes q, k, v, out and `scores`, by default batches, queries and the key. Nothing
// if they do not form an attention.
std::optional<AttentionLetters> attention_letters(const Attributes& attributes);

}  // namespace tilewright::graph
