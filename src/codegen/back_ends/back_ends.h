// The table of back ends. A new back end is one line in back_ends.cc; a test passes rows of its own
// to the functions that take them.
//
//   const BackEnd* back_end = TRY(back_end_for(task.target));
#pragma once

#include <span>

#include "codegen/back_end.h"

namespace tilewright::codegen {

std::span<const BackEnd> all_back_ends();

// The first row that makes artifacts for the target. An error of kind Unsupported where no row
// makes code for targets of that kind, or the target lacks what the row needs.
Result<const BackEnd*> back_end_for(const Target& target,
                                    std::span<const BackEnd> rows = all_back_ends());

// Whether code can be made for the target: the error of back_end_for.
Status check_target(const Target& target, std::span<const BackEnd> rows = all_back_ends());

}  // namespace tilewright::codegen
