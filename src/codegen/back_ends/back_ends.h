// The table of back ends. A new back end is one line in back_ends.cc; a test passes its own rows to
// the functions below.
//
//   const BackEnd* back_end = TRY(back_end_for(task.target));
#pragma once

#include <span>
#include <string_view>

#include "codegen/back_end.h"

namespace tilewright::codegen {

std::span<const BackEnd> all_back_ends();

// The first row that produces artifacts for the target. An error of kind Unsupported if no row
// serves this kind of target, or if the target does not meet the requirements of the row.
Result<const BackEnd*> back_end_for(const Target& target,
                                    std::span<const BackEnd> rows = all_back_ends());

// The name of that row in stored verdicts: empty if it is the first built-in row for the target, or
// a copy of it, so that verdicts of two back ends are never mixed. Another row of the same name is
// recorded by its name.
std::string_view recorded_name(const Target& target, std::span<const BackEnd> rows);

// To show how code for the target is lowered: the first row that can produce artifacts for exactly
// this target, even if back_end_for refuses it. LLVM serves x86-64 from AVX2 on, C all of it.
Result<const BackEnd*> lowering_for(const Target& target,
                                    std::span<const BackEnd> rows = all_back_ends());

// A text form, and its row that serves the target. An error that lists the forms if no row has one
// of that name.
struct TextRow {
  const BackEnd* back_end = nullptr;
  const TextForm* form = nullptr;
};
Result<TextRow> text_row(std::string_view name, const Target& target,
                         std::span<const BackEnd> rows = all_back_ends());

// Whether code can be generated for the target: the error of back_end_for.
Status check_target(const Target& target, std::span<const BackEnd> rows = all_back_ends());

}  // namespace tilewright::codegen
