#include "runtime/host/library_code.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "runtime/abi/thread_pool.h"
#include "runtime/host/seal.h"

namespace tilewright::runtime {
namespace {

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

class LibraryCode : public LoadedCode {
 public:
  LibraryCode(Library library, KernelEntry entry) : library_(std::move(library)), entry_(entry) {}
  KernelEntry entry() const override { return entry_; }
  int32_t call(const TilewrightCall& call) const override { return entry_(&call); }

 private:
  Library library_;
  KernelEntry entry_;
};

// dlopen needs a file, and treats two files with one name as the same: each is in a separate
// folder, which is removed after mapping.
Result<Library> open_library(std::span<const uint8_t> bytes) {
  const TemporaryFolder folder = TRY(make_scratch_folder("tilewright-library-"));
  const std::string path = folder / "kernel.so";
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(ErrorKind::Io, fmt::format("cannot write {}", path));
  Library library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    return fail(ErrorKind::Build, fmt::format("shared library: {}", dlerror()));
  }
  return library;
}

}  // namespace

Result<std::unique_ptr<LoadedCode>> load_library_code(const Artifact& artifact) {
  Library library = TRY(open_library(TRY(unsealed(artifact.bytes))));
  void* const entry = dlsym(library.get(), artifact.entry.c_str());
  if (entry == nullptr) {
    return fail(ErrorKind::Build, fmt::format("shared library: no function '{}'", artifact.entry));
  }
  using ParallelFor = decltype(&tilewright_parallel_for);
  if (void* const host = dlsym(library.get(), kHostParallelFor); host != nullptr) {
    *static_cast<ParallelFor*>(host) = &tilewright_kernel_parallel_for;
  }
  return std::make_unique<LibraryCode>(std::move(library), reinterpret_cast<KernelEntry>(entry));
}

}  // namespace tilewright::runtime
