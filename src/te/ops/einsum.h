// Sums of products in Einstein notation: each dimension of an operand is named by a letter, and
// dimensions with the same letter share an index. Letters that are missing in the result are
// summed.
//
//   A="ik", B="kj", out="ij"      C[i, j] = sum over k of A[i, k] * B[k, j]
//
// The axes of a stage are named after their letters: `i`, and `ui` for an upper-case I.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "te/dag_builder.h"

namespace tilewright::te {

using LetterExtents = std::map<char, int64_t>;

std::vector<Axis> letter_axes(DagBuilder& builder, std::string_view letters,
                              const LetterExtents& extents);
std::vector<int64_t> letter_shape(std::string_view letters, const LetterExtents& extents);

// The axes of one stage by their letters.
class LetterAxes {
 public:
  void add(std::string_view letters, const std::vector<Axis>& axes);
  // The element of `tensor`, whose dimensions are `letters`. A dimension of extent 1 broadcasts; a
  // repeated letter reads the diagonal.
  ir::Expr read(const DagBuilder& builder, TensorId tensor, std::string_view letters) const;

 private:
  std::map<char, Axis> axes_;
};

// A tensor and the letters of its dimensions.
struct Factor {
  TensorId tensor = 0;
  std::string_view letters;
};

// The letters of the factors that are missing in `out`, in order of first occurrence.
std::string summed_letters(const Factor& a, const Factor& b, std::string_view out);

// name[out] = sum of a * b over `summed`, or the product if that is empty. Products are added in
// accumulator_of the type of `a` and stored as `stored`.
TensorId add_products(DagBuilder& builder, std::string_view name, std::string_view out,
                      std::string_view summed, const Factor& a, const Factor& b,
                      const LetterExtents& extents, ir::Scalar stored);

}  // namespace tilewright::te
