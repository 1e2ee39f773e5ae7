#include "codegen/c/emit_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "codegen/c/back_end.h"
#include "codegen/c/c_kernel.h"
#include "codegen/c/kernel_abi_text.h"
#include "codegen/c/unused_lets.h"
#include "codegen/kernel_symbol.h"
#include "codegen/workspace.h"

namespace tilewright::codegen {
namespace {

// The beginning of every source. Options come before the first include, so that the functions of
// immintrin.h can be inlined.
constexpr std::string_view kPrologue =
    R"(#if defined(__FAST_MATH__)
#error "compile without -ffast-math: results would differ"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno")
#endif
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between static functions only */
#pragma GCC diagnostic ignored "-Wtautological-compare" /* conditions may be constant */
#pragma GCC diagnostic ignored "-Warray-bounds" /* lanes that a mask leaves out may lie outside */
#pragma GCC diagnostic ignored "-Wunused-but-set-variable" /* what is computed may not be needed */

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TW_INLINE static inline __attribute__((always_inline, unused))
#if defined(__has_builtin)
#define TW_HAS_BUILTIN(name) __has_builtin(name)
#else
#define TW_HAS_BUILTIN(name) 0
#endif

)";

constexpr std::string_view kSerialPool =
    R"(/* In order, on the caller's thread; a program with a pool defines its own. */
__attribute__((weak)) int32_t tilewright_parallel_for(void* pool, int32_t threads,
                                                      int64_t iterations, TilewrightTask task,
                                                      void* context) {
  (void)pool;
  if (threads < 1) return 1;
  for (int64_t k = 0; k < iterations; ++k) task(context, k, 0);
  return 0;
}

)";

std::string upper(std::string_view text) {
  std::string result = c_name(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::string unique_symbol(const std::string& name, std::unordered_set<std::string>& taken) {
  const std::string base = kernel_symbol(name);
  std::string symbol = base;
  for (int k = 2; !taken.insert(symbol).second; ++k) symbol = fmt::format("{}_{}", base, k);
  return symbol;
}

// The declaration of a kernel, its arguments and its workspace size.
std::string declaration(const ir::Function& function, const CKernelInfo& kernel) {
  std::string text = "\n/* arguments:";
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const ir::Buffer& buffer = function.buffers[function.arguments[k]];
    text += fmt::format("\n *   [{}] {} {}[{}]{}", k, ir::name_of(buffer.element.scalar),
                        c_name(buffer.name), buffer.elements(),
                        function.argument_written[k] ? ", written" : "");
  }
  text += " */\n";
  const std::string prefix = upper(kernel.symbol);
  text += fmt::format("#define {}_SHARED_WORKSPACE {} /* bytes, for all threads */\n", prefix,
                      kernel.shared_workspace);
  text += fmt::format("#define {}_THREAD_WORKSPACE {} /* bytes more for each thread */\n", prefix,
                      kernel.thread_workspace);
  return text + fmt::format("int32_t {}(const TilewrightCall* call);\n", kernel.symbol);
}

std::string header_of(const COptions& options, const std::string& declarations) {
  const std::string guard = upper(options.header_name) + "_";
  return fmt::format(
      "{0}\n#ifndef {1}\n#define {1}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{2}\n"
      "#ifdef __cplusplus\n}}\n#endif\n#endif /* {1} */\n",
      kernel_abi_text(), guard, declarations);
}

}  // namespace

Result<CSource> emit_c(std::span<const ir::Function> functions, const Target& target,
                       const COptions& options) {
  if (!c_back_end().serves(target)) return no_code_for(target, {&c_back_end(), 1});
  CSource result;
  Helpers helpers;
  std::unordered_set<std::string> symbols;
  std::string kernels;
  std::string declarations;
  bool is_parallel = false;
  for (ir::Function function : functions) {
    function.body = without_unused_lets(function.body);
    const WorkspacePlan plan = plan_workspace(function);
    const CKernelInfo kernel{.symbol = unique_symbol(function.name, symbols),
                             .shared_workspace = plan.shared,
                             .thread_workspace = plan.per_thread};
    const CKernelText written = TRY(write_kernel(function, target, plan, kernel.symbol, helpers));
    kernels += "\n" + written.text;
    declarations += declaration(function, kernel);
    is_parallel = is_parallel || written.is_parallel;
    result.kernels.push_back(kernel);
  }
  result.source =
      fmt::format("/* Compile with -O2 {}, or more of a machine. */\n{}#include \"{}\"\n\n",
                  fmt::join(c_target_flags(target), " "), kPrologue, options.header_name);
  if (is_parallel && options.pool) result.source += kSerialPool;
  result.source += helpers.text() + kernels;
  result.header = header_of(options, declarations);
  return result;
}

std::vector<std::string> c_target_flags(const Target& target) {
  std::vector<std::string> flags;
  for (Feature feature : target.cpu()->code_features().list()) {
    flags.push_back(fmt::format("-m{}", feature_text(feature)));
  }
  return flags;
}

std::string c_enabled_features() {
  FeatureSet all;
  for (int k = 0; k < kFeatureCount; ++k) all = all.with(static_cast<Feature>(k));
  std::string text = "\"\"\n";
  for (const Feature feature : CpuTarget{.features = all}.code_features().list()) {
    const std::string_view name = feature_text(feature);
    std::string macro;  // sse4.2 -> SSE4_2
    for (const char c : name) {
      macro += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    text += fmt::format("#ifdef __{}__\n    \"{},\"\n#endif\n", macro, name);
  }
  return text;
}

}  // namespace tilewright::codegen
