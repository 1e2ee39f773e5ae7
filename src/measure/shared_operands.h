// SharedOperands: inputs and expected outputs of a workload, row-major, in an anonymous file that
// the tuner creates once and every run worker maps. Each operand has one section; the section of an
// output holds its expected values, and a second one those for special values in the inputs
// (oracle/special_values.h). The offsets depend only on the workload.
//
// The creator may write. An attached process may only read until it requests write access, so that
// a faulty kernel cannot change the expected values.
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
  static Result<SharedOperands> attach(const Workload& workload, int fd);  // does not keep fd open
  SharedOperands(SharedOperands&& other) noexcept;
  SharedOperands& operator=(SharedOperands&& other) noexcept;
  ~SharedOperands();

  int64_t bytes() const { return static_cast<int64_t>(mapping_.size()); }  // size of all sections
  int fd() const { return fd_; }                                           // -1 if attached
  void set_writable(bool writable) const;
  std::span<const std::span<std::byte>> sections() const { return sections_; }
  // Indexed as Workload::operands. For an output: its expected values.
  std::span<std::byte> operand(size_t index) const { return sections_[index]; }
  // The outputs with special values in the inputs; empty for inputs.
  std::span<const std::span<std::byte>> special_outputs() const { return special_; }

 private:
  SharedOperands() = default;
  int fd_ = -1;
  std::span<std::byte> mapping_;
  std::vector<std::span<std::byte>> sections_;
  std::vector<std::span<std::byte>> special_;
};

}  // namespace tilewright::measure
