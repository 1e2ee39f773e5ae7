// Dimensions named by letters (te/ops/einsum.h) as attributes of nodes give them.
#pragma once

#include <string>
#include <string_view>

#include "graph/ops/common.h"
#include "te/ops/einsum.h"

namespace tilewright::graph {

using te::LetterExtents;

// Adds the letters of an operand. Fails where they are not letters, not as many as its dimensions,
// or an extent is another than before; 1 fits all.
Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   LetterExtents& extents);

// Fails unless `out` has letters of the operands, each once.
Status check_out(const OpDef& op, const std::string& out, const LetterExtents& extents);

// A letter that is not `taken`, and is from now on: the first such of `liked`, or of all.
char fresh_letter(std::string_view liked, std::string& taken);

}  // namespace tilewright::graph
