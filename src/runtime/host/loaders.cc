#include "runtime/host/loaders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/host/elf_code.h"
#include "runtime/host/library_code.h"

namespace tilewright::runtime {
namespace {

bool is_cpu(const Target& target) { return target.runs_on_cpu(); }

constexpr std::array kLoaders = {
    Loader{kElfArtifact, is_cpu, check_runs_here, load_elf_code},
    Loader{kSharedLibraryArtifact, is_cpu, check_runs_here, load_library_code},
};

}  // namespace

std::span<const Loader> all_loaders() { return kLoaders; }

Status check_loadable(const Target& target, std::span<const Loader> loaders) {
  Status first;  // why the first one cannot
  for (const Loader& loader : loaders) {
    if (!loader.serves(target)) continue;
    const Status runs = loader.runs_here(target);
    if (runs) return {};
    if (first) first = runs;
  }
  return first ? check_runs_here(target) : first;
}

const Loader* find_loader(std::string_view kind, std::span<const Loader> loaders) {
  const auto found = std::ranges::find(loaders, kind, &Loader::kind);
  return found == loaders.end() ? nullptr : &*found;
}

Result<const Loader*> loader_of(std::string_view kind, std::span<const Loader> loaders) {
  if (const Loader* found = find_loader(kind, loaders)) return found;
  return fail(ErrorKind::Build, fmt::format("no loader takes artifacts of kind '{}'", kind));
}

}  // namespace tilewright::runtime
