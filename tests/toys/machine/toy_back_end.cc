// The half that a build worker links: the passes and the compiler.
#include <fmt/format.h>

#include <array>

#include "ir/print.h"
#include "lower/expand_functions.h"
#include "lower/flatten.h"
#include "toy_code.h"
#include "toy_machine.h"

namespace tilewright::toys {
namespace {

// The machine runs one loop over blocks: threads of a CPU become blocks of a grid.
//
//   parallel for i < 4: ...   ->   for i < 4: ...      and launch.grid[0] = 4
void serialize(ir::Function& function, const lower::PassContext&) {
  const auto* outer = function.body.as<ir::For>();
  if (outer == nullptr || outer->loop_kind != ir::ForKind::Parallel) return;
  function.body = ir::make_for(outer->var, outer->extent, ir::ForKind::Serial, outer->body);
}

constexpr std::array kPasses = {
    lower::Pass{"flatten", lower::flatten},
    lower::Pass{"expand_functions", lower::expand_functions},
    lower::Pass{"serialize", serialize},
};

int64_t shared_bytes(const ir::Function& function) {
  int64_t bytes = 0;
  for (const ir::Buffer& buffer : function.buffers) {
    if (buffer.scope != ir::Scope::Shared) continue;
    bytes += buffer.elements() * ir::bytes_of(buffer.element.scalar);
  }
  return bytes;
}

Result<std::vector<runtime::Artifact>> compile_all(std::span<const ir::Function> functions,
                                                   const Target& target,
                                                   const codegen::CompileOptions& options) {
  if (options.on_phase) options.on_phase("encode");
  std::vector<runtime::Artifact> artifacts;
  for (const ir::Function& function : functions) {
    const int64_t shared = shared_bytes(function);
    if (shared > target.bytes(MemoryScope::Shared)) {
      return fail(ErrorKind::Build, fmt::format("{} bytes of shared memory; the machine has {}",
                                                shared, target.bytes(MemoryScope::Shared)));
    }
    const auto* outer = function.body.as<ir::For>();
    const int64_t* blocks = outer == nullptr ? nullptr : ir::as_int(outer->extent);
    std::vector<uint8_t> bytes = TRY(encode(function));
    artifacts.push_back(
        {.kind = std::string(toy_loader().kind),
         .bytes = std::move(bytes),
         .entry = function.name,
         .launch = {.grid = {blocks == nullptr ? 1 : *blocks, 1, 1}, .shared_bytes = shared}});
  }
  return artifacts;
}

constexpr std::array kTexts = {
    codegen::TextForm{"toy", "the code of the machine as it decodes it",
                      [](const ir::Function& function, const Target&,
                         const codegen::CompileOptions&) -> Result<std::string> {
                        return ir::to_string(TRY(decode(TRY(encode(function)))));
                      }},
};

}  // namespace

const codegen::BackEnd& toy_back_end() {
  static const codegen::BackEnd row = {
      .name = "toy",
      .purpose = "a made-up machine",
      .targets = "cuda:sm_75",
      .serves = toy_loader().serves,
      .check = [](const Target&) { return Status(); },
      .passes = kPasses,
      .compile = compile_all,
      .loader = &toy_loader(),
      .texts = kTexts,
      .probe = [] { return codegen::works_on(toy_back_end(), *parse_target("cuda:sm_75")); },
      .remedy = "make one up"};
  return row;
}

}  // namespace tilewright::toys
