// SharedOperands: inputs and expected outputs of a workload, row-major, in an anonymous file that
// the tuner makes once and every run worker maps. Each operand has a section for its data; each
// output has its expected values there. Where the sections lie follows from the workload alone.
//
// Who made it may write; who attached may only read until it asks to write, so that a kernel gone
// wild cannot change what others are judged by.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright::measure {

class SharedOperands {
 public:
  static Result<SharedOperands> create(const Workload& workload);          // zeroed
  static Result<SharedOperands> attach(const Workload& workload, int fd);  // keeps no hold of fd
  SharedOperands(SharedOperands&& other) noexcept;
  SharedOperands& operator=(SharedOperands&& other) noexcept;
  ~SharedOperands();

  int64_t bytes() const { return static_cast<int64_t>(mapping_.size()); }  // of all sections
  int fd() const { return fd_; }                                           // -1 when attached
  void set_writable(bool writable) const;
  std::span<const std::span<std::byte>> sections() const { return sections_; }
  // Of Workload::operands; an output's holds what is expected of it.
  std::span<std::byte> operand(size_t index) const { return sections_[index]; }

 private:
  SharedOperands() = default;
  int fd_ = -1;
  std::span<std::byte> mapping_;
  std::vector<std::span<std::byte>> sections_;
};

}  // namespace tilewright::measure
