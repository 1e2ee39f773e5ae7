#include "feature/encoded.h"

#include "base/check.h"

namespace tilewright::feature {

void Encoded::clear() {
  values.clear();
  begin.assign(1, 0);
}

void Encoded::append(const Encoded& from, size_t first, size_t last) {
  CHECK(first <= last && last <= from.programs(), "programs {} to {} of {}", first, last,
        from.programs());
  if (first == last) return;
  if (programs() == 0) {
    width = from.width;
    version = from.version;
  }
  CHECK(width == from.width, "rows of {} behind rows of {}", from.width, width);
  const auto at = [&](size_t program) {
    return from.values.begin() + static_cast<std::ptrdiff_t>(from.begin[program] * width);
  };
  values.insert(values.end(), at(first), at(last));
  const uint32_t base = begin.back() - from.begin[first];
  for (size_t k = first + 1; k <= last; ++k) begin.push_back(base + from.begin[k]);
}

void Encoded::drop_first(size_t programs) {
  const uint32_t rows = begin[programs];
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rows * width));
  begin.erase(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(programs));
  for (uint32_t& row : begin) row -= rows;
}

void clear(Inputs* inputs) {
  for (Encoded& encoded : *inputs) encoded.clear();
}

void append(const Inputs& from, size_t first, size_t last, Inputs* to) {
  if (first == last) return;
  if (to->empty()) to->resize(from.size());
  CHECK(to->size() == from.size(), "{} encodings behind {}", from.size(), to->size());
  for (size_t k = 0; k < from.size(); ++k) (*to)[k].append(from[k], first, last);
}

void drop_first(size_t programs, Inputs* inputs) {
  for (Encoded& encoded : *inputs) encoded.drop_first(programs);
}

}  // namespace tilewright::feature
