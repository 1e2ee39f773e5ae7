// For tests: a chain of stages that share workspace.
//
//   s0[i] = in[n-1-i] + 1;  s1[i] = s0[n-1-i] + 1;  ...  out[i] = s9[i]
//
// Each stage has another type than the one before and reads it backwards, so that overwriting live
// data is detected.
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

inline ir::Function make_chain() {
  using namespace ir;  // NOLINT(google-build-using-namespace)
  constexpr int64_t kLength = 2048;
  constexpr Scalar kStages[] = {Scalar::F32, Scalar::I32, Scalar::F64, Scalar::F32, Scalar::I16,
                                Scalar::F32, Scalar::I64, Scalar::F32, Scalar::I32, Scalar::F32};
  const auto buffer = [](const char* name, Scalar type, Scope scope) {
    return Buffer{.name = name, .element = {type, 1}, .shape = {kLength}, .scope = scope};
  };
  Function f{.name = "chain",
             .buffers = {buffer("in", Scalar::F32, Scope::Argument),
                         buffer("out", Scalar::F32, Scope::Argument)},
             .arguments = {0, 1},
             .argument_written = {false, true},
             .body = {}};
  std::vector<Stmt> loops;
  BufferId from = 0;
  for (Scalar type : kStages) {
    const auto to = static_cast<BufferId>(f.buffers.size());
    const Expr i = var("i");
    const Scalar before = f.buffers[from].element.scalar;
    const Expr value = cast(type, load(before, from, {int_imm(kLength - 1) - i}));
    loops.push_back(make_for(i, int_imm(kLength), ForKind::Serial,
                             make_store(to, {i}, value + imm(1, {type, 1}))));
    f.buffers.push_back(buffer("stage", type, Scope::Workspace));
    from = to;
  }
  const Expr i = var("i");
  loops.push_back(make_for(i, int_imm(kLength), ForKind::Serial,
                           make_store(1, {i}, load(Scalar::F32, from, {i}))));
  f.body = make_block(loops);
  for (BufferId k = 2; k < f.buffers.size(); ++k) f.body = make_allocate(k, f.body);
  return f;
}

}  // namespace tilewright::codegen
