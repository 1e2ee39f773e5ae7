#include "back_end_check.h"

#include <cstring>

#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"

namespace tilewright::testing {
namespace {

constexpr runtime::AlignedBufferOptions kGuarded{.guard_bytes = 256};

// Runs the kernel on copies of `memory`, which receives what it made of them.
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
  functions_.push_back(std::move(program.function));
  expected_.push_back({workload, std::move(program.inputs), std::move(program.results)});
}

std::optional<BatchFailure> BackEndBatch::check() const {
  for (const codegen::BackEnd& back_end : codegen::all_back_ends()) {
    if (!back_end.makes_artifacts() || !back_end.serves(target_)) continue;
    if (auto failure = check(back_end)) return failure;
  }
  return std::nullopt;
}

std::optional<BatchFailure> BackEndBatch::check(const codegen::BackEnd& back_end) const {
  const auto artifacts = back_end.compile(functions_, target_, {});
  if (!artifacts) {
    return first_not_compiled(back_end).value_or(BatchFailure{0, artifacts.error().message});
  }
  for (size_t k = 0; k < expected_.size(); ++k) {
    const auto kernel = runtime::Kernel::load((*artifacts)[k], {back_end.loader, 1});
    if (!kernel) return BatchFailure{k, kernel.error().message};
    Memory memory = expected_[k].inputs;
    auto problem = run_on(*kernel, target_.threads(), memory);
    if (!problem) problem = first_difference(expected_[k].workload, expected_[k].results, memory);
    if (problem) {
      return BatchFailure{k, "interpreter and " + std::string(back_end.name) + ": " + *problem};
    }
  }
  return std::nullopt;
}

std::optional<BatchFailure> BackEndBatch::first_not_compiled(
    const codegen::BackEnd& back_end) const {
  for (size_t k = 0; k < functions_.size(); ++k) {
    const auto alone = codegen::compile(back_end, functions_[k], target_);
    if (!alone) return BatchFailure{k, alone.error().message};
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
