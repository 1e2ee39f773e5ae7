// Layout: the order of the elements of a tensor in memory, as a list of physical dimensions,
// outermost first. Each is a digit of one logical dimension: (index / divisor) mod extent, without
// mod for its outermost digit (the one with the largest divisor). Row-major, transposed, blocked
// and packed layouts all have this form.
//
//   tensor [K=6, N=70], layout N/32 (3), K (6), N%32 (32):
//   element (k, n) is at (n/32) * 6*32 + k * 32 + n%32; 3*6*32 = 576 elements, padded past N
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "ir/expr.h"
#include "te/dag.h"

namespace tilewright::layout {

struct Digit {
  uint32_t dim = 0;  // logical dimension
  int64_t divisor = 1;
  int64_t extent = 1;  // number of values; the outermost digit of a dimension covers the rest

  bool operator==(const Digit&) const = default;
};

struct Layout {
  bool free = false;          // undecided: a constant that may be packed; has no digits
  std::vector<Digit> digits;  // outermost first

  static Layout row_major(std::span<const int64_t> shape);
  static Layout undecided() { return {.free = true, .digits = {}}; }
  // `dim` is split into blocks, which are innermost; the other dimensions are between, in order.
  // The example above is blocked({6, 70}, 1, 32).
  static Layout blocked(std::span<const int64_t> shape, uint32_t dim, int64_t block);

  bool is_row_major(std::span<const int64_t> shape) const;
  // True if every element of the shape has a distinct location: the digits of each dimension, by
  // ascending divisor, are positional (each divisor is the product of the extents below) and cover
  // it.
  bool holds(std::span<const int64_t> shape) const;

  int64_t elements() const;  // of the physical array, padding included
  int64_t offset(std::span<const int64_t> indices) const;
  // The flat offset as an expression, not simplified: each digit is (index / divisor) % extent.
  ir::Expr offset(std::span<const ir::Expr> indices) const;
  std::string to_string() const;  // `[d1/32:3, d0:6, d1%32:32]`, or `free`
  void hash_into(Hasher& hasher) const;

  bool operator==(const Layout&) const = default;
};

}  // namespace tilewright::layout
