#include "codegen/c/c_library.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/run_program.h"
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

Status run_compiler(const TemporaryFolder& folder, const Target& target,
                    const CLibraryOptions& options, const std::string& library) {
  std::vector<std::string> command = {options.compiler, "-std=gnu11", "-Wall",   "-Wextra",
                                      "-Werror",        "-O2",        "-shared", "-fPIC"};
  for (std::string& flag : c_target_flags(target)) command.push_back(std::move(flag));
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  for (const char* file : {"kernels.c", "host.c"}) command.push_back(folder / file);
  command.insert(command.end(), {"-o", library, "-lm"});
  const Result<EndedProgram> ended = run_program(command, {.joins_errors = true});
  if (!ended) return fail(ErrorKind::Unsupported, ended.error().message);
  if (ended->status == 0) return {};
  return fail(ErrorKind::Build,
              fmt::format("{} failed: {}", options.compiler,
                          ended->out.empty() ? "it did not say why" : ended->out));
}

}  // namespace

Result<std::vector<runtime::Artifact>> compile_c(const CSource& source, const Target& target,
                                                 const CLibraryOptions& options) {
  const TemporaryFolder folder = TRY(make_scratch_folder("tilewright-c-"));
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
                         .thread_workspace = kernel.thread_workspace});
  }
  return artifacts;
}

Result<CLibrary> CLibrary::build(std::span<const ir::Function> functions, const Target& target,
                                 const CLibraryOptions& options) {
  CLibrary library;
  library.source_ = TRY(emit_c(functions, target));
  std::vector<runtime::Artifact> artifacts = TRY(compile_c(library.source_, target, options));
  for (size_t k = 0; k < artifacts.size(); ++k) {
    artifacts[k].denormals = functions[k].denormals;
    library.kernels_.push_back(TRY(runtime::Kernel::load(artifacts[k])));
  }
  return library;
}

}  // namespace tilewright::codegen
