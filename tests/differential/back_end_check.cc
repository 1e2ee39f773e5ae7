#include "back_end_check.h"

#include <cstring>

#include "codegen/back_ends/build_kernel.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"

namespace tilewright::testing {
namespace {

constexpr runtime::AlignedBufferOptions kGuarded{.guard_bytes = 256};

// Runs the kernel on copies of `memory`, which receives the results.
std::optional<std::string> run_on(const runtime::Kernel& kernel, int threads, Memory& memory) {
  std::vector<runtime::AlignedBuffer> buffers;
  std::vector<void*> arguments;
  for (const auto& bytes : memory) {
    buffers.emplace_back(static_cast<int64_t>(bytes.size()), kGuarded);
    std::memcpy(buffers.back().data(), bytes.data(), bytes.size());
    arguments.push_back(buffers.back().data());
  }
  const runtime::AlignedBuffer workspace(kernel.workspace_bytes(threads), kGuarded);
  const int32_t status = kernel({.arguments = arguments.data(),
                                 .workspace = workspace.data(),
                                 .pool = nullptr,
                                 .threads = threads,
                                 .reserved = 0});
  if (status != 0) return "the kernel failed";
  bool intact = !workspace.damaged_guard();
  for (size_t k = 0; k < memory.size(); ++k) {
    intact = intact && !buffers[k].damaged_guard();
    std::memcpy(memory[k].data(), buffers[k].data(), memory[k].size());
  }
  return intact ? std::nullopt : std::optional<std::string>("it wrote outside its buffers");
}

}  // namespace

void BackEndBatch::add(const Workload& workload, Interpreted program) {
  programs_.push_back({.task = {workload, target_},
                       .tree = std::move(program.tree),
                       .trace = std::move(program.trace),
                       .inputs = std::move(program.inputs),
                       .lowered = {std::move(program.lowered)}});
}

std::optional<BatchFailure> BackEndBatch::check() {
  for (const codegen::BackEnd& back_end : rows_) {
    if (!back_end.makes_artifacts() || !back_end.serves(target_)) continue;
    if (auto failure = check(back_end)) return failure;
  }
  return std::nullopt;
}

std::optional<BatchFailure> BackEndBatch::check(const codegen::BackEnd& back_end) {
  std::vector<ir::Function> functions;
  std::vector<const Memory*> expected;
  for (size_t k = 0; k < programs_.size(); ++k) {
    const auto lowered = lowered_for(back_end, programs_[k]);
    if (!lowered) return BatchFailure{k, lowered.error().message};
    functions.push_back((*lowered)->function);
    expected.push_back(&(*lowered)->results);
  }
  const auto artifacts = codegen::compile(back_end, functions, target_);
  if (!artifacts) {
    return first_not_compiled(back_end, functions)
        .value_or(BatchFailure{0, artifacts.error().message});
  }
  for (size_t k = 0; k < programs_.size(); ++k) {
    const auto kernel = runtime::Kernel::load((*artifacts)[k], {back_end.loader, 1});
    if (!kernel) return BatchFailure{k, kernel.error().message};
    Memory memory = programs_[k].inputs;
    auto problem = run_on(*kernel, target_.threads(), memory);
    if (!problem) problem = first_difference(programs_[k].task.workload, *expected[k], memory);
    if (problem) {
      return BatchFailure{k, "interpreter and " + std::string(back_end.name) + ": " + *problem};
    }
  }
  return std::nullopt;
}

Result<const LoweredProgram*> BackEndBatch::lowered_for(const codegen::BackEnd& back_end,
                                                        Program& program) {
  for (const LoweredProgram& known : program.lowered) {
    if (same_passes(known.passes, back_end.passes)) return &known;
  }
  ir::Function function =
      TRY(codegen::lower_for(back_end, program.task, program.tree, program.trace));
  Memory results = program.inputs;
  if (auto problem = interpret_on(function, results)) return fail(ErrorKind::Build, *problem);
  program.lowered.push_back({back_end.passes, std::move(function), std::move(results)});
  return &program.lowered.back();
}

std::optional<BatchFailure> BackEndBatch::first_not_compiled(
    const codegen::BackEnd& back_end, std::span<const ir::Function> functions) const {
  for (size_t k = 0; k < functions.size(); ++k) {
    const auto alone = codegen::compile(back_end, functions[k], target_);
    if (!alone) return BatchFailure{k, alone.error().message};
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
