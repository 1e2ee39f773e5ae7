#include "app/workers.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tilewright::app {

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
