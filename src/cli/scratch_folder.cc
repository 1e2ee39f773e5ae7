#include "cli/scratch_folder.h"

#include <system_error>

namespace tilewright::cli {

Result<TemporaryFolder> make_scratch_folder(std::string_view prefix) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) return TemporaryFolder::make(parent, prefix);
  return fail(ErrorKind::Io, "there is no folder for temporary files; let TMPDIR name one");
}

}  // namespace tilewright::cli
