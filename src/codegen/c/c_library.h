// compile_c: C source -> artifacts, as one shared library made by a C compiler. CLibrary also loads
// it, for tests. Immutable; kernels may be called by several threads at once.
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
  std::vector<std::string> flags = {};  // in addition to those of the target
};

// One artifact per kernel of the source, in order; all contain the same library. An error of kind
// Build contains the compiler's output (warnings count as errors); Unsupported means that there is
// no such compiler, Io that there is no folder for temporary files.
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
