// repack and unpack: an offset of a layout is a sum of one term for each logical dimension, so
// the terms are tabled once and an element costs one addition.

#include <cstring>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "layout/layout.h"

namespace tilewright::layout {
namespace {

// terms[d][i]: what index i of dimension d adds to the offset.
std::vector<std::vector<int64_t>> offset_terms(std::span<const int64_t> shape,
                                               const Layout& layout) {
  std::vector<std::vector<int64_t>> terms;
  std::vector<int64_t> indices(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t>& column = terms.emplace_back();
    for (indices[d] = 0; indices[d] < shape[d]; ++indices[d]) {
      column.push_back(layout.offset(indices));
    }
    indices[d] = 0;
  }
  return terms;
}

// Calls visit(row, base) for each row along the last dimension: the number of its first element
// in row-major order and its offset without the last dimension's term.
template <class Visit>
void for_each_row(std::span<const int64_t> shape, const std::vector<std::vector<int64_t>>& terms,
                  Visit visit) {
  const size_t outer = shape.size() - 1;
  const int64_t rows =
      std::accumulate(shape.begin(), shape.end() - 1, int64_t{1}, std::multiplies<>());
  std::vector<int64_t> indices(outer);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t base = 0;
    for (size_t d = 0; d < outer; ++d) base += terms[d][static_cast<size_t>(indices[d])];
    visit(row * shape[outer], base);
    for (size_t d = outer; d > 0 && ++indices[d - 1] == shape[d - 1]; --d) indices[d - 1] = 0;
  }
}

template <class Word>
void pack_words(std::span<const int64_t> shape, const Layout& layout, const Word* from, Word* to) {
  std::memset(to, 0, static_cast<size_t>(layout.elements()) * sizeof(Word));
  const auto terms = offset_terms(shape, layout);
  for_each_row(shape, terms, [&](int64_t first, int64_t base) {
    for (const int64_t term : terms.back()) to[base + term] = from[first++];
  });
}

template <class Word>
void unpack_words(std::span<const int64_t> shape, const Layout& layout, const Word* from,
                  Word* to) {
  const auto terms = offset_terms(shape, layout);
  for_each_row(shape, terms, [&](int64_t first, int64_t base) {
    for (const int64_t term : terms.back()) to[first++] = from[base + term];
  });
}

// Calls f with an integer as wide as an element; only its bytes are moved.
template <class F>
void with_word(int element_bytes, F f) {
  switch (element_bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      CHECK(false, "elements of {} bytes", element_bytes);
  }
}

}  // namespace

void repack(std::span<const int64_t> shape, const Layout& layout, int element_bytes,
            const void* row_major, void* packed) {
  CHECK(layout.holds(shape), "{} does not hold the shape", layout.to_string());
  if (shape.empty()) {
    std::memcpy(packed, row_major, static_cast<size_t>(element_bytes));
    return;
  }
  with_word(element_bytes, [&]<class Word>(Word) {
    pack_words(shape, layout, static_cast<const Word*>(row_major), static_cast<Word*>(packed));
  });
}

void unpack(std::span<const int64_t> shape, const Layout& layout, int element_bytes,
            const void* packed, void* row_major) {
  CHECK(layout.holds(shape), "{} does not hold the shape", layout.to_string());
  if (shape.empty()) {
    std::memcpy(row_major, packed, static_cast<size_t>(element_bytes));
    return;
  }
  with_word(element_bytes, [&]<class Word>(Word) {
    unpack_words(shape, layout, static_cast<const Word*>(packed), static_cast<Word*>(row_major));
  });
}

}  // namespace tilewright::layout
