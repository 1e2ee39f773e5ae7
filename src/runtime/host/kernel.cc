#include "runtime/host/kernel.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/host/elf_loader.h"

namespace tilewright::runtime {

struct Kernel::Mapping {
  LoadedObject object;
};

Result<Kernel> Kernel::load(const KernelObject& object) {
  if (object.abi_version != TILEWRIGHT_ABI_VERSION) {
    return fail(ErrorKind::Unsupported,
                fmt::format("object file: made for version {} of the kernel ABI, this is version "
                            "{}; compile it again",
                            object.abi_version, TILEWRIGHT_ABI_VERSION));
  }
  const ExternalSymbol externals[] = {
      {"tilewright_parallel_for", reinterpret_cast<uint64_t>(&tilewright_parallel_for)},
      {"memcpy", reinterpret_cast<uint64_t>(&std::memcpy)},
      {"memmove", reinterpret_cast<uint64_t>(&std::memmove)},
      {"memset", reinterpret_cast<uint64_t>(&std::memset)},
  };
  Result<LoadedObject> loaded = LoadedObject::load(object.elf, externals);
  if (!loaded) return std::unexpected(loaded.error());
  void* entry = loaded->function(object.symbol);
  if (entry == nullptr) {
    return fail(ErrorKind::Build, "object file: no function '" + object.symbol + "'");
  }
  Kernel kernel;
  kernel.entry_ = reinterpret_cast<int32_t (*)(const TilewrightCall*)>(entry);
  kernel.mapping_ = std::make_unique<Mapping>(std::move(*loaded));
  kernel.shared_ = object.shared_workspace;
  kernel.per_thread_ = object.thread_workspace;
  return kernel;
}

Kernel::Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

}  // namespace tilewright::runtime
