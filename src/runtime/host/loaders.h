// The table of loaders. The run worker links it and no compiler. A new kind of artifact is one row.
//
//   const Loader& loader = *TRY(loader_of(artifact.kind));
//   const std::unique_ptr<LoadedCode> code = TRY(loader.load(artifact));
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/host/artifact.h"
#include "runtime/host/loader.h"
#include "target/target.h"

namespace tilewright::runtime {

std::span<const Loader> all_loaders();

// Checks that this machine can execute code for the target, with one of the loaders that serve it.
// The error is that of the first one.
Status check_loadable(const Target& target, std::span<const Loader> loaders = all_loaders());

const Loader* find_loader(std::string_view kind,
                          std::span<const Loader> loaders = all_loaders());  // or null

// An error if no loader handles artifacts of that kind.
Result<const Loader*> loader_of(std::string_view kind,
                                std::span<const Loader> loaders = all_loaders());

}  // namespace tilewright::runtime
