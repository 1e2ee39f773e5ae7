#include "cli/workers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

namespace tilewright::cli {

Result<std::filesystem::path> workers_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return fail(ErrorKind::Io, "cannot tell where this program lies: " + error.message());
  }
  std::filesystem::path folder = program.parent_path();
  for (const char* name : {"tilewright-build-worker", "tilewright-run-worker"}) {
    if (::access((folder / name).c_str(), X_OK) == 0) continue;
    return fail(ErrorKind::Io, fmt::format("there is no {} that can be run in {}: measuring needs "
                                           "both worker programs beside this one",
                                           name, folder.string()));
  }
  return folder;
}

}  // namespace tilewright::cli
