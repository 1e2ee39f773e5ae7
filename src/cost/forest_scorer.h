// ForestScorer: evaluates a Forest on many rows at once, 16 per vector on a machine with AVX-512,
// otherwise one by one. Both forms add the trees in the same order and give the same bits as
// score_plainly. Immutable: may be used by several threads at once.
//
// Vector form: each tree is padded to a complete tree of 6 levels, where node i has the children
// 2i+1 and 2i+2 and a leaf higher up fills all leaves below it. Rows are transposed in blocks of
// 16. All 7 nodes of the upper 3 levels are compared, which costs less than fetching one node per
// lane. Below that, each lane selects the column and threshold of its node from registers and
// gathers its value:
//
//   upper:  decision masks m0, m1, m2 -> index 0..7 of each lane
//   lower:  index -> 2 * index + (row[column[index]] < threshold[index] ? 0 : 1), three times
//   leaf:   sum += leaf[index]
//
// Deeper trees are evaluated one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cost/forest.h"

namespace tilewright::cost {

class ForestScorer {
 public:
  enum class Form { Best, Plain };  // Plain: the form for machines without AVX-512

  ForestScorer() = default;
  explicit ForestScorer(const Forest& forest, Form form = Form::Best);

  bool is_vectorized() const { return !padded_.empty(); }
  // `rows` has scores.size() rows of the forest's width, without NaN.
  void score(const float* rows, std::span<float> scores) const;

  static constexpr size_t kLevels = 6;

  // A padded tree. Columns are offsets into a block of transposed rows: slot times 16.
  struct alignas(64) PaddedTree {
    int32_t upper_column[8] = {};  // nodes 0 to 6
    float upper_threshold[8] = {};
    int32_t column3[16] = {};  // nodes 7 to 14, then unused
    float threshold3[16] = {};
    int32_t column4[16] = {};
    float threshold4[16] = {};
    int32_t column5[32] = {};
    float threshold5[32] = {};
    float leaf[64] = {};
  };

 private:
  void score_plain(const float* rows, std::span<float> scores) const;

  Forest forest_;
  std::vector<uint32_t> used_;  // the columns that the trees read, by slot
  std::vector<PaddedTree> padded_;
};

}  // namespace tilewright::cost
