#include "runtime/host/elf_code.h"

#include <cstring>

#include "runtime/abi/thread_pool.h"
#include "runtime/host/elf_loader.h"

namespace tilewright::runtime {
namespace {

class ElfCode : public LoadedCode {
 public:
  ElfCode(LoadedObject object, KernelEntry entry) : object_(std::move(object)), entry_(entry) {}
  KernelEntry entry() const override { return entry_; }
  int32_t call(const TilewrightCall& call) const override { return entry_(&call); }

 private:
  LoadedObject object_;
  KernelEntry entry_;
};

}  // namespace

Result<std::unique_ptr<LoadedCode>> load_elf_code(const Artifact& artifact) {
  const ExternalSymbol externals[] = {
      {"tilewright_parallel_for", reinterpret_cast<uint64_t>(&tilewright_kernel_parallel_for)},
      {"memcpy", reinterpret_cast<uint64_t>(&std::memcpy)},
      {"memmove", reinterpret_cast<uint64_t>(&std::memmove)},
      {"memset", reinterpret_cast<uint64_t>(&std::memset)},
  };
  LoadedObject object = TRY(LoadedObject::load(artifact.bytes, externals));
  void* entry = object.function(artifact.entry);
  if (entry == nullptr) {
    return fail(ErrorKind::Build, "object file: no function '" + artifact.entry + "'");
  }
  return std::make_unique<ElfCode>(std::move(object), reinterpret_cast<KernelEntry>(entry));
}

}  // namespace tilewright::runtime
