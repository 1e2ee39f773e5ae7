// The made-up device, as its driver shows it to a loader: code as bytes, calls on host memory.
//
// The interpreter of loop IR stands for the device itself, and for nothing else: bytes of code
// (toy_code.h) are its instructions, and toy_device.cc alone includes the interpreter. A loader of
// a real device calls the driver of that device here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"

namespace tilewright::ir {
struct Function;
}

namespace tilewright::toys {

// A program on the device. Several threads may run it at once.
class ToyProgram {
 public:
  // An error of kind Build if the bytes are damaged.
  static Result<ToyProgram> load(std::span<const uint8_t> code);

  size_t arguments() const;
  // An error if the device stops in a fault, such as an index out of bounds.
  Status run(std::span<void* const> arguments) const;

 private:
  explicit ToyProgram(std::shared_ptr<const ir::Function> function)
      : function_(std::move(function)) {}
  std::shared_ptr<const ir::Function> function_;
};

}  // namespace tilewright::toys
