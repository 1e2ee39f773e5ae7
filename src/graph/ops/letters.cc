#include "graph/ops/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace tilewright::graph {
namespace {

// Upper and lower case are two letters, and names of axes are plain.
std::string axis_text(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  if (std::isupper(code) == 0) return std::string(1, letter);
  return fmt::format("u{}", static_cast<char>(std::tolower(code)));
}

}  // namespace

Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   LetterExtents& extents) {
  if (letters.size() != type.shape.size()) {
    return bad(op, fmt::format("'{}' names {} dimensions of {}", letters, letters.size(),
                               type.to_string()));
  }
  for (size_t d = 0; d < letters.size(); ++d) {
    if (std::isalpha(static_cast<unsigned char>(letters[d])) == 0) {
      return bad(op, fmt::format("'{}' has more than letters", letters));
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

std::vector<te::Axis> axes_of(te::DagBuilder& builder, std::string_view letters,
                              const LetterExtents& extents) {
  std::vector<te::Axis> axes;
  axes.reserve(letters.size());
  for (const char letter : letters) {
    axes.push_back(builder.axis(axis_text(letter), extents.at(letter)));
  }
  return axes;
}

Shape shape_of(std::string_view letters, const LetterExtents& extents) {
  Shape shape;
  shape.reserve(letters.size());
  for (const char letter : letters) shape.push_back(extents.at(letter));
  return shape;
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

void Places::add(std::string_view letters, const std::vector<te::Axis>& axes) {
  for (size_t k = 0; k < letters.size(); ++k) axes_.emplace(letters[k], axes[k]);
}

ir::Expr Places::read(const te::DagBuilder& builder, te::TensorId tensor,
                      std::string_view letters) const {
  const std::vector<te::Extent>& shape = builder.tensor(tensor).shape;
  std::vector<ir::Expr> indices;
  indices.reserve(letters.size());
  for (size_t d = 0; d < letters.size(); ++d) {
    const te::Axis& axis = axes_.at(letters[d]);
    indices.push_back(shape[d] == axis.extent ? axis.var : ir::int_imm(0));
  }
  return builder.read(tensor, std::move(indices));
}

}  // namespace tilewright::graph
