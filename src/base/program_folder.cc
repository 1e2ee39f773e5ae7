#include "base/program_folder.h"

#include <system_error>

namespace tilewright {

Result<std::filesystem::path> program_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return program.parent_path();
  return fail(ErrorKind::Io, "cannot find the folder of this program: " + error.message());
}

}  // namespace tilewright
