// BackEndTables: the compilers and loaders in use: the built-in tables by default. To add a back
// end, a caller passes tables that also contain its rows. A view: the rows outlive it.
#pragma once

#include <fmt/format.h>

#include <span>

#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "runtime/host/loaders.h"

namespace tilewright::deploy {

struct BackEndTables {
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
  std::span<const runtime::Loader> loaders = runtime::all_loaders();
};

// Whether kernels for the target can be compiled, and run on this machine.
inline Status check_executable(const Target& target, const BackEndTables& tables) {
  const codegen::BackEnd* const row = TRY(codegen::back_end_for(target, tables.back_ends));
  const auto loader = runtime::loader_of(row->loader->kind, tables.loaders);
  if (loader) return (*loader)->runs_here(target);
  return fail(ErrorKind::Unsupported, fmt::format("code for {} cannot be run: {}",
                                                  print_target(target), loader.error().message));
}

}  // namespace tilewright::deploy
