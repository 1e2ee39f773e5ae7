// Dimensions named by letters, as in einsum: one a dimension, the same letter for what runs
// together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/common.h"

namespace tilewright::graph {

// How long each letter is.
using LetterExtents = std::map<char, int64_t>;

// Adds the letters of an operand. Fails where they are not letters, not as many as its dimensions,
// or an extent is another than before; 1 fits all.
Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   LetterExtents& extents);

// Fails unless `out` has letters of the operands, each once.
Status check_out(const OpDef& op, const std::string& out, const LetterExtents& extents);

std::vector<te::Axis> axes_of(te::DagBuilder& builder, std::string_view letters,
                              const LetterExtents& extents);
Shape shape_of(std::string_view letters, const LetterExtents& extents);

// A letter that is not `taken`, and is from now on: the first such of `liked`, or of all.
char fresh_letter(std::string_view liked, std::string& taken);

// The axes of one stage by their letters.
class Places {
 public:
  void add(std::string_view letters, const std::vector<te::Axis>& axes);
  // The element of `tensor`, whose dimensions are `letters`; one of extent 1 broadcasts.
  ir::Expr read(const te::DagBuilder& builder, te::TensorId tensor, std::string_view letters) const;

 private:
  std::map<char, te::Axis> axes_;
};

}  // namespace tilewright::graph
