#include "c_check.h"

#include <cstring>

#include "codegen/c/c_library.h"
#include "runtime/host/buffer.h"

namespace tilewright::testing {
namespace {

constexpr runtime::AlignedBufferOptions kGuarded{.guard_bytes = 256};

// Runs the kernel on copies of `memory`, which receives what it made of them.
std::optional<std::string> run_on(const codegen::CKernel& kernel, int threads, Memory& memory) {
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

void CBatch::add(const Workload& workload, Interpreted program) {
  functions_.push_back(std::move(program.function));
  expected_.push_back({workload, std::move(program.inputs), std::move(program.results)});
}

std::optional<CFailure> CBatch::check() const {
  const auto library = codegen::CLibrary::build(functions_, target_);
  if (!library) return first_not_compiled().value_or(CFailure{0, library.error().message});
  for (size_t k = 0; k < expected_.size(); ++k) {
    Memory memory = expected_[k].inputs;
    auto problem = run_on(library->kernels()[k], target_.threads(), memory);
    if (!problem) problem = first_difference(expected_[k].workload, expected_[k].results, memory);
    if (problem) return CFailure{k, "interpreter and C: " + *problem};
  }
  return std::nullopt;
}

std::optional<CFailure> CBatch::first_not_compiled() const {
  for (size_t k = 0; k < functions_.size(); ++k) {
    const auto alone = codegen::CLibrary::build(std::span(&functions_[k], 1), target_);
    if (!alone) return CFailure{k, alone.error().message};
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
