#include "codegen/back_ends/back_ends.h"

#include <algorithm>
#include <array>

#include "codegen/c/back_end.h"
#include "codegen/interp/interp.h"
#include "codegen/llvm/back_end.h"
#include "codegen/probe_function.h"
#include "lower/pipeline.h"

namespace tilewright::codegen {
namespace {

Status interp_works() {
  float x = 1;
  void* const arguments[] = {&x};
  TRY(interpret(probe_function(), arguments));
  if (x != 2) return fail(ErrorKind::Build, "the interpreter ran but gave a wrong result");
  return {};
}

// The reference. It accepts loop IR for any target and produces no artifacts.
BackEnd interp_back_end() {
  return {.name = "interp",
          .purpose = "the loop IR interpreted, slowly; the reference",
          .serves = [](const Target&) { return true; },
          .check = [](const Target&) { return Status(); },
          .passes = lower::cpu_passes(),
          .probe = interp_works,
          .remedy = "./dev test"};
}

}  // namespace

std::span<const BackEnd> all_back_ends() {
  static const std::array rows = {
      interp_back_end(),
      llvm_back_end(),
      c_back_end(),
  };
  return rows;
}

Result<const BackEnd*> back_end_for(const Target& target, std::span<const BackEnd> rows) {
  const auto found = std::ranges::find_if(
      rows, [&](const BackEnd& row) { return row.makes_artifacts() && row.serves(target); });
  if (found == rows.end()) return no_code_for(target);
  TRY(found->check(target));
  return &*found;
}

Status check_target(const Target& target, std::span<const BackEnd> rows) {
  TRY(back_end_for(target, rows));
  return {};
}

}  // namespace tilewright::codegen
