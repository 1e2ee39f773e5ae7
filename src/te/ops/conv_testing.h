// For tests of convolutions: parameters of an operator text, and elements of tensors that are 0
// outside.
#pragma once

#include <string>
#include <vector>

#include "te/ops/testing.h"

namespace tilewright::te {

// Element of a row-major tensor of `extents`; 0 if an index is outside.
inline double at(const std::vector<double>& data, const std::vector<int64_t>& extents,
                 const std::vector<int64_t>& indices) {
  int64_t offset = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= extents[d]) return 0;
    offset = offset * extents[d] + indices[d];
  }
  return data[static_cast<size_t>(offset)];
}

// Calls visit(indices, offset) for each element of a row-major tensor.
template <class Visit>
void for_each_index(const std::vector<int64_t>& extents, Visit visit) {
  std::vector<int64_t> indices(extents.size());
  for (size_t offset = 0;; ++offset) {
    visit(indices, offset);
    size_t d = extents.size();
    while (d > 0 && ++indices[d - 1] == extents[d - 1]) indices[--d] = 0;
    if (d == 0) return;
  }
}

// Expects `text` to be rejected with a message that contains `part`.
struct Mistake {
  const char* text;
  const char* part;
};

inline void expect_refused(const Mistake& mistake) {
  const auto instance = parse_operator(mistake.text);
  ASSERT_FALSE(instance.has_value()) << mistake.text;
  EXPECT_NE(instance.error().message.find(mistake.part), std::string::npos)
      << instance.error().message;
}

}  // namespace tilewright::te
