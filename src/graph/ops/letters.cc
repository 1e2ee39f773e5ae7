#include "graph/ops/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace tilewright::graph {
Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   LetterExtents& extents) {
  if (letters.size() != type.shape.size()) {
    return bad(op, fmt::format("'{}' names {} dimensions of {}", letters, letters.size(),
                               type.to_string()));
  }
  for (size_t d = 0; d < letters.size(); ++d) {
    if (std::isalpha(static_cast<unsigned char>(letters[d])) == 0) {
      return bad(op, fmt::format("'{}' contains characters other than letters", letters));
    }
    int64_t& extent = extents.try_emplace(letters[d], 1).first->second;
    if (extent != type.shape[d] && extent != 1 && type.shape[d] != 1) {
      return bad(op,
                 fmt::format("{} is {} and {} elements long", letters[d], extent, type.shape[d]));
    }
    extent = std::max(extent, type.shape[d]);
  }
  return {};
}

Status check_out(const OpDef& op, const std::string& out, const LetterExtents& extents) {
  for (size_t d = 0; d < out.size(); ++d) {
    if (extents.contains(out[d]) && out.find(out[d]) == d) continue;
    return bad(op, fmt::format("'{}' should have letters of the operands, each once", out));
  }
  return {};
}

char fresh_letter(std::string_view liked, std::string& taken) {
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const std::string_view letters : {liked, kAll}) {
    for (const char letter : letters) {
      if (taken.contains(letter)) continue;
      taken += letter;
      return letter;
    }
  }
  CHECK(false, "no letter is left: '{}' are taken", taken);
}

}  // namespace tilewright::graph
