#include "codegen/c/c_library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "runtime/host/seal.h"

namespace tilewright::codegen {
namespace {

// Overrides the weak tilewright_parallel_for of the kernels by a call through a pointer that the
// host sets.
constexpr std::string_view kHostSource = R"(#include "kernels.h"

int32_t (*tilewright_host_parallel_for)(void*, int32_t, int64_t, TilewrightTask, void*);

int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                TilewrightTask task, void* context) {
  return tilewright_host_parallel_for(pool, threads, iterations, task, context);
}
)";

// Runs a program to completion; its stdout and stderr go to `log`.
Result<int> run_program(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));  // NOLINT: posix_spawn's signature
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    return fail(ErrorKind::Unsupported,
                fmt::format("cannot run '{}': {}", arguments[0], std::strerror(problem)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail(ErrorKind::Io,
                  fmt::format("waiting for '{}': {}", arguments[0], std::strerror(errno)));
    }
  }
  return status;
}

Status run_compiler(const TemporaryFolder& folder, const Target& target,
                    const CLibraryOptions& options, const std::string& library) {
  std::vector<std::string> command = {options.compiler, "-std=gnu11", "-Wall",   "-Wextra",
                                      "-Werror",        "-O2",        "-shared", "-fPIC"};
  for (std::string& flag : c_target_flags(target)) command.push_back(std::move(flag));
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  for (const char* file : {"kernels.c", "host.c"}) command.push_back(folder / file);
  command.insert(command.end(), {"-o", library, "-lm"});
  const std::string log = folder / "log";
  const int status = TRY(run_program(command, log));
  if (status == 0) return {};
  const Result<std::string> said = read_file(log);
  return fail(ErrorKind::Build,
              fmt::format("{} failed: {}", options.compiler, said ? *said : "it did not say why"));
}

}  // namespace

Result<std::vector<runtime::Artifact>> compile_c(const CSource& source, const Target& target,
                                                 const CLibraryOptions& options) {
  const TemporaryFolder folder = TRY(TemporaryFolder::make(options.folder, "tilewright-c-"));
  const std::pair<const char*, std::string_view> files[] = {
      {"kernels.h", source.header}, {"kernels.c", source.source}, {"host.c", kHostSource}};
  for (const auto& [name, text] : files) TRY(write_file_atomically(folder / name, text));
  const std::string path = folder / "kernels.so";
  TRY(run_compiler(folder, target, options, path));
  const std::string library = TRY(read_file(path));
  const std::vector<uint8_t> bytes = runtime::sealed({library.begin(), library.end()});
  std::vector<runtime::Artifact> artifacts;
  artifacts.reserve(source.kernels.size());
  for (const CKernelInfo& kernel : source.kernels) {
    artifacts.push_back({.kind = std::string(runtime::kSharedLibraryArtifact),
                         .bytes = bytes,
                         .entry = kernel.symbol,
                         .shared_workspace = kernel.shared_workspace,
                         .thread_workspace = kernel.thread_workspace,
                         .denormals = kernel.denormals});
  }
  return artifacts;
}

Result<CLibrary> CLibrary::build(std::span<const ir::Function> functions, const Target& target,
                                 const CLibraryOptions& options) {
  CLibrary library;
  library.source_ = TRY(emit_c(functions, target));
  for (const runtime::Artifact& artifact : TRY(compile_c(library.source_, target, options))) {
    library.kernels_.push_back(TRY(runtime::Kernel::load(artifact)));
  }
  return library;
}

}  // namespace tilewright::codegen
