// C source -> artifacts: a C compiler makes one shared library of it. CLibrary loads that too: for
// tests. Immutable; kernels may be called from several threads at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/c/emit_c.h"
#include "ir/stmt.h"
#include "runtime/host/kernel.h"
#include "target/target.h"

namespace tilewright::codegen {

struct CLibraryOptions {
  std::string compiler = "cc";
  std::vector<std::string> flags = {};  // besides those of the target
  std::string folder = "/tmp";          // for a private folder, which is removed again
};

// One artifact per kernel of the source, in order; all hold the same library. An error of kind
// Build says what the compiler said, a warning included; of kind Unsupported that there is no such
// compiler.
Result<std::vector<runtime::Artifact>> compile_c(const CSource& source, const Target& target,
                                                 const CLibraryOptions& options = {});

class CLibrary {
 public:
  static Result<CLibrary> build(std::span<const ir::Function> functions, const Target& target,
                                const CLibraryOptions& options = {});

  std::span<const runtime::Kernel> kernels() const { return kernels_; }  // one per function
  const CSource& source() const { return source_; }

 private:
  std::vector<runtime::Kernel> kernels_;
  CSource source_;
};

}  // namespace tilewright::codegen
