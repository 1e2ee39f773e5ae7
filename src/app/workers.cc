#include "app/workers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

namespace tilewright::app {

Result<std::filesystem::path> program_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return program.parent_path();
  return fail(ErrorKind::Io, "cannot find the folder of this program: " + error.message());
}

Status check_workers(const std::filesystem::path& folder) {
  for (const char* name : {"tilewright-build-worker", "tilewright-run-worker"}) {
    if (::access((folder / name).c_str(), X_OK) == 0) continue;
    return fail(ErrorKind::Io, fmt::format("there is no {} that can be run in {}: measuring needs "
                                           "both worker programs there",
                                           name, folder.string()));
  }
  return {};
}

}  // namespace tilewright::app
