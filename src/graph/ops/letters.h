// Dimensions named by letters (te/ops/einsum.h), from the attributes of a node.
#pragma once

#include <string>
#include <string_view>

#include "graph/ops/common.h"
#include "te/ops/einsum.h"

namespace tilewright::graph {

using te::LetterExtents;

// Adds the letters of an operand. Fails if they are not letters, their number is not that of its
// dimensions, or an extent differs from an earlier one; an extent of 1 broadcasts.
Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   LetterExtents& extents);

// Fails unless `out` consists of distinct letters of the operands.
Status check_out(const OpDef& op, const std::string& out, const LetterExtents& extents);

// The first letter of `liked`, or of the alphabet, that is not in `taken`; adds it to `taken`.
char fresh_letter(std::string_view liked, std::string& taken);

}  // namespace tilewright::graph
