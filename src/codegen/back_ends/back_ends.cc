#include "codegen/back_ends/back_ends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
          .targets = "any",
          .serves = [](const Target&) { return true; },
          .check = [](const Target&) { return Status(); },
          .passes = lower::cpu_passes(),
          .probe = interp_works,
          .remedy = "./dev test"};
}

const BackEnd* first_for(const Target& target, std::span<const BackEnd> rows) {
  const auto found = std::ranges::find_if(
      rows, [&](const BackEnd& row) { return row.makes_artifacts() && row.serves(target); });
  return found != rows.end() ? &*found : nullptr;
}

// Whether they make the same code, under the same name.
bool is_same(const BackEnd& a, const BackEnd& b) {
  return a.name == b.name && a.compile == b.compile && a.passes.data() == b.passes.data() &&
         a.passes.size() == b.passes.size();
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
  const BackEnd* const found = first_for(target, rows);
  if (found == nullptr) return no_code_for(target, rows);
  TRY(found->check(target));
  return found;
}

std::string_view recorded_name(const Target& target, std::span<const BackEnd> rows) {
  const BackEnd* const row = first_for(target, rows);
  const BackEnd* const built_in = first_for(target, all_back_ends());
  if (row == nullptr || (built_in != nullptr && is_same(*row, *built_in))) return {};
  return row->name;
}

Result<const BackEnd*> lowering_for(const Target& target, std::span<const BackEnd> rows) {
  const auto found = std::ranges::find_if(rows, [&](const BackEnd& row) {
    return row.makes_artifacts() && row.serves(target) && row.check(target);
  });
  if (found != rows.end()) return &*found;
  return back_end_for(target, rows);  // its error names the missing part
}

Result<TextRow> text_row(std::string_view name, const Target& target,
                         std::span<const BackEnd> rows) {
  bool is_known = false;
  std::vector<std::string_view> known;
  for (const BackEnd& row : rows) {
    for (const TextForm& form : row.texts) {
      known.push_back(form.name);
      if (form.name != name) continue;
      is_known = true;
      if (!row.serves(target)) continue;
      TRY(row.check(target));
      return TextRow{.back_end = &row, .form = &form};
    }
  }
  if (is_known) {
    return fail(ErrorKind::Unsupported,
                fmt::format("the code for {} has no form '{}'", print_target(target), name));
  }
  return fail(ErrorKind::BadInput,
              fmt::format("no back end prints its code as '{}'; there are {}", name,
                          fmt::join(known, ", ")),
              {{"texts", ""}});
}

Status check_target(const Target& target, std::span<const BackEnd> rows) {
  TRY(back_end_for(target, rows));
  return {};
}

}  // namespace tilewright::codegen
