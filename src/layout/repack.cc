#include "layout/repack.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "te/shape_of.h"

namespace tilewright::layout {
namespace {

// terms[d][i]: the contribution of index i of dimension d to the offset.
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

constexpr int64_t kTile = 64;  // rows and columns

// Calls visit(first, base, begin, end) for the elements [begin, end) of each row along the last
// dimension: the row-major number of the row's first element, and its offset without the term of
// the last dimension. Proceeds tile by tile, for locality in both orders.
template <class Visit>
void for_each_part(std::span<const int64_t> shape, const std::vector<std::vector<int64_t>>& terms,
                   Visit visit) {
  const size_t outer = shape.size() - 1;
  const int64_t columns = shape[outer];
  const int64_t rows =
      std::accumulate(shape.begin(), shape.end() - 1, int64_t{1}, std::multiplies<>());
  std::vector<int64_t> indices(outer);
  std::vector<int64_t> bases;
  for (int64_t row = 0; row < rows; row += kTile) {
    bases.clear();
    for (int64_t k = row; k < std::min(row + kTile, rows); ++k) {
      int64_t base = 0;
      for (size_t d = 0; d < outer; ++d) base += terms[d][static_cast<size_t>(indices[d])];
      bases.push_back(base);
      for (size_t d = outer; d > 0 && ++indices[d - 1] == shape[d - 1]; --d) indices[d - 1] = 0;
    }
    for (int64_t begin = 0; begin < columns; begin += kTile) {
      const int64_t end = std::min(begin + kTile, columns);
      int64_t first = row * columns;
      for (const int64_t base : bases) {
        visit(first, base, begin, end);
        first += columns;
      }
    }
  }
}

template <class Word>
void pack_words(std::span<const int64_t> shape, const Layout& layout, const Word* from, Word* to) {
  std::memset(to, 0, static_cast<size_t>(layout.elements()) * sizeof(Word));
  const auto terms = offset_terms(shape, layout);
  const int64_t* term = terms.back().data();
  for_each_part(shape, terms, [&](int64_t first, int64_t base, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) to[base + term[k]] = from[first + k];
  });
}

template <class Word>
void unpack_words(std::span<const int64_t> shape, const Layout& layout, const Word* from,
                  Word* to) {
  const auto terms = offset_terms(shape, layout);
  const int64_t* term = terms.back().data();
  for_each_part(shape, terms, [&](int64_t first, int64_t base, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) to[first + k] = from[base + term[k]];
  });
}

// Calls f with an integer of the size of an element; only its bytes are moved.
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

size_t bytes_of(const te::Tensor& tensor, const Layout& layout) {
  return static_cast<size_t>(layout.elements() * ir::bytes_of(tensor.element));
}

void repack(const te::Tensor& tensor, const Layout& layout, const void* row_major, void* packed) {
  repack(te::shape_of(tensor), layout, ir::bytes_of(tensor.element), row_major, packed);
}

void unpack(const te::Tensor& tensor, const Layout& layout, const void* packed, void* row_major) {
  unpack(te::shape_of(tensor), layout, ir::bytes_of(tensor.element), packed, row_major);
}

}  // namespace tilewright::layout
