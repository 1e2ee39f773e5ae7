// For tests: runs a function with the interpreter and with LLVM on the same inputs and compares
// every byte of every argument; NaNs are equal for any payload. Both flush or keep denormals as the
// function requires. Argument buffers of the compiled run have guard zones, and its parallel loops
// run on a private pool.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codegen/bytes_testing.h"
#include "codegen/interp/interp.h"
#include "codegen/llvm/compile.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"
#include "runtime/host/thread_pool.h"

namespace tilewright::codegen {

// The arguments after the run of the interpreter; empty, with a test failure, if they differ.
inline std::vector<Bytes> run_both(const ir::Function& function, std::vector<Bytes> arguments,
                                   const Target& target = host_target(1), int threads = 1) {
  const std::string text = ir::to_string(function);
  if (const Status verified = ir::verify(function); !verified) {
    ADD_FAILURE() << verified.error().message << "\n" << text;
    return {};
  }
  std::vector<runtime::AlignedBuffer> compiled;
  std::vector<void*> compiled_pointers;
  std::vector<void*> interpreted_pointers;
  for (Bytes& argument : arguments) {
    compiled.emplace_back(static_cast<int64_t>(argument.size()),
                          runtime::AlignedBufferOptions{.guard_bytes = 256});
    std::memcpy(compiled.back().data(), argument.data(), argument.size());
    compiled_pointers.push_back(compiled.back().data());
    interpreted_pointers.push_back(argument.data());
  }

  if (const Status done = interpret(function, interpreted_pointers); !done) {
    ADD_FAILURE() << done.error().message << "\n" << text;
    return {};
  }
  std::string llvm_ir;
  auto object = compile_llvm(function, target, {.llvm_ir = &llvm_ir});
  if (!object) {
    ADD_FAILURE() << object.error().message << "\n" << text << llvm_ir;
    return {};
  }
  object->denormals = function.denormals;
  const auto kernel = runtime::Kernel::load(*object);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message << "\n" << text;
    return {};
  }
  runtime::ThreadPool pool({.threads = threads, .pin = false});
  const runtime::AlignedBuffer workspace(kernel->workspace_bytes(threads), {.guard_bytes = 256});
  const int32_t status = (*kernel)({.arguments = compiled_pointers.data(),
                                    .workspace = workspace.data(),
                                    .pool = &pool,
                                    .threads = threads,
                                    .reserved = 0});
  EXPECT_EQ(status, TILEWRIGHT_STATUS_OK);
  EXPECT_FALSE(workspace.damaged_guard()) << *workspace.damaged_guard() << "\n" << text;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ir::Buffer& buffer = function.buffers[function.arguments[k]];
    EXPECT_FALSE(compiled[k].damaged_guard()) << buffer.name << "\n" << text;
    const auto size = static_cast<size_t>(ir::bytes_of(buffer.element.scalar));
    for (size_t at = 0; at + size <= arguments[k].size(); at += size) {
      if (same_element(buffer.element.scalar, arguments[k].data() + at,
                       compiled[k].as<uint8_t>() + at, function.denormals)) {
        continue;
      }
      uint64_t expected = 0;
      uint64_t actual = 0;
      std::memcpy(&expected, arguments[k].data() + at, size);
      std::memcpy(&actual, compiled[k].as<uint8_t>() + at, size);
      ADD_FAILURE() << "element " << at / size << " of " << buffer.name << ": interpreter "
                    << std::hex << expected << ", LLVM " << actual << "\n"
                    << text << "\n"
                    << llvm_ir;
      return {};
    }
  }
  return arguments;
}

}  // namespace tilewright::codegen
