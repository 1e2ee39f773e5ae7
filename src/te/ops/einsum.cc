#include "te/ops/einsum.h"

#include <fmt/format.h>

#include <cctype>

#include "te/ops/operator.h"

namespace tilewright::te {
namespace {

// Upper and lower case are two letters, and names of axes are plain.
std::string axis_text(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  if (std::isupper(code) == 0) return std::string(1, letter);
  return fmt::format("u{}", static_cast<char>(std::tolower(code)));
}

}  // namespace

std::vector<Axis> letter_axes(DagBuilder& builder, std::string_view letters,
                              const LetterExtents& extents) {
  std::vector<Axis> axes;
  axes.reserve(letters.size());
  for (const char letter : letters) {
    axes.push_back(builder.axis(axis_text(letter), extents.at(letter)));
  }
  return axes;
}

std::vector<int64_t> letter_shape(std::string_view letters, const LetterExtents& extents) {
  std::vector<int64_t> shape;
  shape.reserve(letters.size());
  for (const char letter : letters) shape.push_back(extents.at(letter));
  return shape;
}

void LetterAxes::add(std::string_view letters, const std::vector<Axis>& axes) {
  for (size_t k = 0; k < letters.size(); ++k) axes_.emplace(letters[k], axes[k]);
}

ir::Expr LetterAxes::read(const DagBuilder& builder, TensorId tensor,
                          std::string_view letters) const {
  const std::vector<Extent>& shape = builder.tensor(tensor).shape;
  std::vector<ir::Expr> indices;
  indices.reserve(letters.size());
  for (size_t d = 0; d < letters.size(); ++d) {
    const Axis& axis = axes_.at(letters[d]);
    indices.push_back(shape[d] == axis.extent ? axis.var : ir::int_imm(0));
  }
  return builder.read(tensor, std::move(indices));
}

std::string summed_letters(const Factor& a, const Factor& b, std::string_view out) {
  std::string summed;
  for (const std::string_view letters : {a.letters, b.letters}) {
    for (const char letter : letters) {
      if (!out.contains(letter) && !summed.contains(letter)) summed += letter;
    }
  }
  return summed;
}

TensorId add_products(DagBuilder& builder, std::string_view name, std::string_view out,
                      std::string_view summed, const Factor& a, const Factor& b,
                      const LetterExtents& extents, ir::Scalar stored) {
  const std::vector<Axis> axes = letter_axes(builder, out, extents);
  const std::vector<Axis> sums = letter_axes(builder, summed, extents);
  LetterAxes at;
  at.add(out, axes);
  at.add(summed, sums);
  const ir::Scalar type = accumulator_of(builder.tensor(a.tensor).element);
  const ir::Expr product = ir::cast(type, at.read(builder, a.tensor, a.letters)) *
                           ir::cast(type, at.read(builder, b.tensor, b.letters));
  if (summed.empty()) return builder.compute(name, axes, product, stored);
  return builder.reduce(name, axes, sums, ir::BinaryOp::Add, product, stored);
}

}  // namespace tilewright::te
