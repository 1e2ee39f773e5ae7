#include "cli/back_ends.h"

#include <fmt/format.h>

#include <array>
#include <exception>

#include "codegen/c/probe.h"
#include "codegen/interp/interp.h"
#include "codegen/llvm/probe.h"

namespace tilewright::cli {
namespace {

// Interprets x[0] = x[0] + 1.
Status interp_works() {
  const ir::Function function{
      .name = "probe",
      .buffers = {{.name = "x", .element = ir::kF32, .shape = {1}}},
      .arguments = {0},
      .argument_written = {true},
      .body = ir::make_store(
          0, {ir::int_imm(0)},
          ir::load(ir::Scalar::F32, 0, {ir::int_imm(0)}) + ir::float_imm(1, ir::kF32))};
  float x = 1;
  void* const arguments[] = {&x};
  if (Status status = codegen::interpret(function, arguments); !status) return status;
  if (x != 2) return fail(ErrorKind::Build, "the interpreter ran but gave a wrong result");
  return {};
}

}  // namespace

std::span<const BackEnd> all_back_ends() {
  static constexpr std::array<BackEnd, 3> kBackEnds = {{
      {.name = "interp",
       .purpose = "the loop IR interpreted, slowly; the reference",
       .probe = interp_works,
       .remedy = "./dev test"},
      {.name = "llvm",
       .purpose = "machine code for this CPU",
       .probe = codegen::llvm_works,
       .remedy = "apt-get install llvm-19-dev && ./dev test"},
      {.name = "c",
       .purpose = "C source for GCC and Clang",
       .probe = codegen::c_works,
       .remedy = "apt-get install gcc"},
  }};
  return kBackEnds;
}

Status probe(const BackEnd& back_end) {
  if (back_end.probe == nullptr) return fail(ErrorKind::Unsupported, "not in this build");
  try {
    return back_end.probe();
  } catch (const std::exception& error) {  // a doctor reports a broken organ and goes on
    return fail(ErrorKind::Build, error.what());
  }
}

}  // namespace tilewright::cli
