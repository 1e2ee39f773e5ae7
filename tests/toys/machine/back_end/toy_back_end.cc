#include "tests/toys/machine/back_end/toy_back_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/print.h"
#include "ir/visit.h"
#include "lower/expand_functions.h"
#include "lower/flatten.h"
#include "tests/toys/machine/device/toy_code.h"
#include "tests/toys/machine/loader/toy_loader.h"

namespace tilewright::toys {
namespace {

// Threads of a CPU become blocks of a grid.
//
//   parallel for i < 4: ...   ->   block_x for i < 4: ...
void bind_threads(ir::Function& function, const lower::PassContext&) {
  const auto* outer = function.body.as<ir::For>();
  if (outer == nullptr || outer->loop_kind != ir::ForKind::Parallel) return;
  function.body = ir::make_bound_for(outer->var, outer->extent, ThreadAxis::BlockX, outer->body);
}

constexpr std::array kPasses = {
    lower::Pass{"flatten", lower::flatten},
    lower::Pass{"expand_functions", lower::expand_functions},
    lower::Pass{"bind_threads", bind_threads},
};

int64_t shared_bytes(const ir::Function& function) {
  int64_t bytes = 0;
  for (const ir::Buffer& buffer : function.buffers) {
    if (buffer.scope != ir::Scope::Shared) continue;
    bytes += buffer.elements() * ir::bytes_of(buffer.element.scalar);
  }
  return bytes;
}

// Blocks and threads for the largest loop of each axis.
class LaunchFinder : public ir::Visitor {
 public:
  using ir::Visitor::visit;
  runtime::Launch launch;

  void visit(const ir::Expr&) override {}
  void visit(const ir::Stmt& stmt) override {
    if (const auto* loop = stmt.as<ir::For>()) note(*loop);
    ir::Visitor::visit(stmt);
  }

 private:
  void note(const ir::For& loop) {
    const int64_t* extent = ir::as_int(loop.extent);
    const bool in_grid = is_block(loop.axis);
    if (extent == nullptr || (!in_grid && !is_thread(loop.axis))) return;
    auto& extents = in_grid ? launch.grid : launch.block;
    int64_t& max_extent = extents[static_cast<size_t>(dimension_of(loop.axis))];
    max_extent = std::max(max_extent, *extent);
  }
};

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
    LaunchFinder finder;
    finder.visit(function.body);
    finder.launch.shared_bytes = shared;
    std::vector<uint8_t> bytes = TRY(encode(function));
    artifacts.push_back({.kind = std::string(toy_loader().kind),
                         .bytes = std::move(bytes),
                         .entry = function.name,
                         .launch = finder.launch});
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
      .probe = [] { return codegen::works_on(toy_back_end(), toy_target()); },
      .remedy = "reinstall the made-up machine"};
  return row;
}

}  // namespace tilewright::toys
