// CLibrary: functions of the loop IR as one C source, compiled by a C compiler into a shared
// library and loaded. For tests and for `tilewright doctor`; the library's parallel loops run on
// runtime/host's pools. Immutable; kernels may be called from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/c/emit_c.h"
#include "ir/stmt.h"
#include "runtime/abi/kernel_abi.h"
#include "target/target.h"

namespace tilewright::codegen {

struct CLibraryOptions {
  std::string compiler = "cc";
  std::vector<std::string> flags;  // besides those of the target
  std::string folder = "/tmp";     // where a folder of its own is made, and removed again
};

// One function, callable as runtime::Kernel is. Lives no longer than its library.
class CKernel {
 public:
  using Entry = int32_t (*)(const TilewrightCall*);
  CKernel(Entry entry, CKernelInfo info) : entry_(entry), info_(std::move(info)) {}

  int32_t operator()(const TilewrightCall& call) const { return entry_(&call); }
  int64_t workspace_bytes(int threads) const {
    return info_.shared_workspace + threads * info_.thread_workspace;
  }
  const CKernelInfo& info() const { return info_; }

 private:
  Entry entry_;
  CKernelInfo info_;
};

class CLibrary {
 public:
  // An error of kind Build says what the compiler said, a warning included; of kind Unsupported
  // that there is no such compiler.
  static Result<CLibrary> build(std::span<const ir::Function> functions, const Target& target,
                                const CLibraryOptions& options = {});

  std::span<const CKernel> kernels() const { return kernels_; }  // one a function, in order
  const CSource& source() const { return source_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  std::vector<CKernel> kernels_;
  CSource source_;
};

}  // namespace tilewright::codegen
