// Kernel: a relocatable object, loaded and callable. No compiler is needed: the object (x86-64
// ELF, as codegen makes it) is mapped directly, its relocations resolved against itself,
// tilewright_parallel_for, and memcpy, memmove and memset.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/abi/kernel_abi.h"

namespace tilewright::runtime {

// What codegen hands over: bytes that outlive any compiler, and what a caller must know.
struct KernelObject {
  std::vector<uint8_t> elf;                  // one relocatable object
  std::string symbol;                        // the kernel's function
  int64_t shared_workspace = 0;              // bytes, for all threads
  int64_t thread_workspace = 0;              // bytes more for each worker
  int abi_version = TILEWRIGHT_ABI_VERSION;  // that the code was made for

  int64_t workspace_bytes(int threads) const {
    return shared_workspace + threads * thread_workspace;
  }
};

class Kernel {
 public:
  // An object for another version of the ABI is an error of kind Unsupported.
  static Result<Kernel> load(const KernelObject& object);
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;
  ~Kernel();

  using Entry = int32_t (*)(const TilewrightCall*);
  int32_t operator()(const TilewrightCall& call) const { return entry_(&call); }
  Entry entry() const { return entry_; }  // valid as long as the Kernel
  int64_t workspace_bytes(int threads) const { return shared_ + threads * per_thread_; }

 private:
  struct Mapping;
  Kernel();
  std::unique_ptr<Mapping> mapping_;
  Entry entry_ = nullptr;
  int64_t shared_ = 0;
  int64_t per_thread_ = 0;
};

}  // namespace tilewright::runtime
