// For tests: collects programs, compiles all of them into one C library, and compares every byte of
// every argument with the result of the interpreter. Both flush or keep denormals as the function
// requires.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "codegen/bytes_testing.h"
#include "codegen/c/c_library.h"
#include "codegen/interp/interp.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"

namespace tilewright::codegen {

inline constexpr const char* kCompilers[] = {"gcc", "clang-19"};

class Programs {
 public:
  // `arguments`: contents before the call, in the order of the function's arguments.
  void add(ir::Function function, std::vector<Bytes> arguments) {
    functions_.push_back(std::move(function));
    arguments_.push_back(std::move(arguments));
  }

  // Without arguments, the program gets small repeating numbers.
  void add(ir::Function function) {
    std::vector<Bytes> arguments;
    for (ir::BufferId id : function.arguments) {
      const ir::Buffer& buffer = function.buffers[id];
      Bytes bytes(static_cast<size_t>(buffer.elements() * ir::bytes_of(buffer.element.scalar)));
      for (int64_t k = 0; k < buffer.elements(); ++k) {
        const float value = static_cast<float>(k % 23) / 4 - 2;
        uint64_t stored = static_cast<uint64_t>(k % 2);
        if (buffer.element.scalar == ir::Scalar::F32) std::memcpy(&stored, &value, sizeof value);
        const auto size = static_cast<size_t>(ir::bytes_of(buffer.element.scalar));
        std::memcpy(bytes.data() + static_cast<size_t>(k) * size, &stored, size);
      }
      arguments.push_back(std::move(bytes));
    }
    add(std::move(function), std::move(arguments));
  }

  // Skips the test if there is no such compiler; fails it if anything differs.
  void check(const CLibraryOptions& options, const Target& target, int threads = 2) const {
    const Result<CLibrary> library = CLibrary::build(functions_, target, options);
    if (!library && library.error().kind == ErrorKind::Unsupported) {
      GTEST_SKIP() << library.error().message;
    }
    ASSERT_TRUE(library.has_value()) << library.error().message;
    runtime::ThreadPool pool({.threads = threads, .pin = false});
    for (size_t k = 0; k < functions_.size() && !::testing::Test::HasFailure(); ++k) {
      run(k, library->kernels()[k], pool, threads, library->source());
    }
  }

 private:
  void run(size_t which, const runtime::Kernel& kernel, runtime::ThreadPool& pool, int threads,
           const CSource& source) const {
    const ir::Function& function = functions_[which];
    const std::string text = ir::to_string(function);
    const Status verified = ir::verify(function);
    ASSERT_TRUE(verified.has_value()) << verified.error().message << "\n" << text;
    std::vector<Bytes> expected = arguments_[which];
    std::vector<runtime::AlignedBuffer> compiled;
    std::vector<void*> compiled_pointers;
    std::vector<void*> expected_pointers;
    for (Bytes& argument : expected) {
      compiled.emplace_back(static_cast<int64_t>(argument.size()),
                            runtime::AlignedBufferOptions{.guard_bytes = 256});
      std::memcpy(compiled.back().data(), argument.data(), argument.size());
      compiled_pointers.push_back(compiled.back().data());
      expected_pointers.push_back(argument.data());
    }
    const Status interpreted = interpret(function, expected_pointers);
    ASSERT_TRUE(interpreted.has_value()) << interpreted.error().message << "\n" << text;
    const runtime::AlignedBuffer workspace(kernel.workspace_bytes(threads), {.guard_bytes = 256});
    EXPECT_EQ(kernel({.arguments = compiled_pointers.data(),
                      .workspace = workspace.data(),
                      .pool = &pool,
                      .threads = threads,
                      .reserved = 0}),
              TILEWRIGHT_STATUS_OK);
    EXPECT_FALSE(workspace.damaged_guard()) << text;
    for (size_t k = 0; k < expected.size(); ++k) {
      const ir::Buffer& buffer = function.buffers[function.arguments[k]];
      EXPECT_FALSE(compiled[k].damaged_guard()) << buffer.name << "\n" << text;
      const std::string problem =
          first_difference(buffer, expected[k], compiled[k].as<uint8_t>(), function.denormals);
      ASSERT_TRUE(problem.empty()) << source.kernels[which].symbol << ": " << problem << "\n"
                                   << text << "\n"
                                   << text_of(source.kernels[which].symbol, source);
    }
  }

  static std::string first_difference(const ir::Buffer& buffer, const Bytes& expected,
                                      const uint8_t* actual, bool denormals) {
    const auto size = static_cast<size_t>(ir::bytes_of(buffer.element.scalar));
    for (size_t at = 0; at + size <= expected.size(); at += size) {
      if (same_element(buffer.element.scalar, expected.data() + at, actual + at, denormals)) {
        continue;
      }
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, expected.data() + at, size);
      std::memcpy(&y, actual + at, size);
      return fmt::format("element {} of {}: interpreter {:#x}, C {:#x}", at / size, buffer.name, x,
                         y);
    }
    return "";
  }

  // The part of the source from the kernel's first function on, truncated.
  static std::string text_of(const std::string& symbol, const CSource& source) {
    const size_t at = source.source.find(symbol);
    return source.source.substr(at, 6000);
  }

  std::vector<ir::Function> functions_;
  std::vector<std::vector<Bytes>> arguments_;
};

}  // namespace tilewright::codegen
