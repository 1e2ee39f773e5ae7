// TensorType, the type of a value, and Constant, a value known at compile time. A Constant is
// immutable bytes in row-major order, shared between copies and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "ir/type.h"

namespace tilewright::graph {

struct TensorType {
  ir::Scalar element = ir::Scalar::F32;
  std::vector<int64_t> shape;

  int64_t elements() const;  // 1 for a scalar
  int64_t bytes() const;
  std::string to_string() const;  // `f32[1,3,224,224]`
  bool operator==(const TensorType&) const = default;
};

class Constant {
 public:
  Constant() = default;  // empty: none
  // `owner` keeps the bytes alive (a mapped file, a vector).
  Constant(TensorType type, std::shared_ptr<const void> owner, std::span<const std::byte> bytes);
  static Constant of_bytes(TensorType type, std::vector<std::byte> bytes);
  static Constant of_integers(std::vector<int64_t> shape, std::span<const int64_t> values,
                              ir::Scalar element = ir::Scalar::I64);
  static Constant of_number(double value, ir::Scalar element);  // a scalar

  bool empty() const { return bytes_.data() == nullptr; }
  const TensorType& type() const { return type_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  double number(int64_t offset) const;    // of any element type
  int64_t integer(int64_t offset) const;  // of an integer or bool
  std::vector<int64_t> integers() const;
  Constant reshaped(std::vector<int64_t> shape) const;  // the same bytes
  Hash128 hash() const;                                 // of type and bytes
  bool operator==(const Constant& other) const;

 private:
  TensorType type_;
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace tilewright::graph
