// Encoded: programs as numbers, the input of a cost model. A program is a sequence of rows of
// `width` numbers each: one row per statement, one per step of its trace, or a single row. The rows
// of all programs are concatenated: program k has rows begin[k] to begin[k + 1].
//
//   two programs, of 2 rows and 1, width 3:  values 9 numbers, begin {0, 2, 3}
//
// Inputs: the same programs in several encodings. Those of a model are in the order in which it
// names them, and each program has rows in all of them. Elsewhere, a program has no rows in an
// encoding that cannot represent it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::feature {

struct Encoded {
  size_t width = 0;  // numbers per row; 0: unknown until the first program
  int version = 0;   // Encoder::version of the encoder; 0: unknown
  std::vector<float> values{};
  std::vector<uint32_t> begin = {0};

  size_t programs() const { return begin.size() - 1; }
  size_t rows() const { return begin.back(); }
  bool has_rows(size_t program) const { return begin[program] < begin[program + 1]; }
  const float* row(size_t number) const { return values.data() + number * width; }
  void clear();  // keeps memory, width and version
  // Appends programs `first` to `last` of another Encoded with the same width and version.
  void append(const Encoded& from, size_t first, size_t last);
  void drop_first(size_t programs);

  bool operator==(const Encoded&) const = default;
};

using Inputs = std::vector<Encoded>;

void clear(Inputs* inputs);
// `to` may be empty: then it gets as many encodings as `from` has. An empty range appends nothing,
// and inputs without programs need not have encodings.
void append(const Inputs& from, size_t first, size_t last, Inputs* to);
void drop_first(size_t programs, Inputs* inputs);

}  // namespace tilewright::feature
