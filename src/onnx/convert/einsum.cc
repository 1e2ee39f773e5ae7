#include "onnx/convert/einsum.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/convert/contract.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

constexpr char kDots = '.';         // `...` in a term, after reading
constexpr size_t kMaxEllipsis = 8;  // dimensions

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// `b i...` -> "bi."
std::string read_term(std::string_view text) {
  std::string term;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == ' ') continue;
    if (text.substr(k).starts_with("...") && !term.contains(kDots)) {
      term.push_back(kDots);
      k += 2;
    } else if (is_letter(text[k])) {
      term.push_back(text[k]);
    } else {
      refuse(fmt::format("'{}' in the equation", shown(text)));
    }
  }
  return term;
}

std::vector<std::string> read_terms(std::string_view text) {
  std::vector<std::string> terms;
  while (true) {
    const size_t comma = text.find(',');
    terms.push_back(read_term(text.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// Letters that the equation does not use.
std::string spare_letters(std::string_view equation) {
  std::string letters;
  for (const char first : {'A', 'a'}) {
    for (char c = first; c < first + 26; ++c) {
      if (!equation.contains(c)) letters.push_back(c);
    }
  }
  return letters;
}

void expand_dots(std::string& term, std::string_view letters) {
  const size_t at = term.find(kDots);
  if (at != std::string::npos) term.replace(at, 1, letters);
}

// Without an arrow: the ellipsis, then every letter that occurs once, in alphabetical order.
std::string implied_result(const std::vector<std::string>& terms) {
  std::string all;
  for (const std::string& term : terms) all += term;
  std::string once;
  for (const char c : all) {
    if (is_letter(c) && std::ranges::count(all, c) == 1) once.push_back(c);
  }
  std::ranges::sort(once);
  return all.contains(kDots) ? kDots + once : once;
}

}  // namespace

Einsum parse_einsum(std::string_view equation, std::span<const size_t> ranks) {
  if (equation.size() > 1000) refuse("the equation is too long");
  const size_t arrow = equation.find("->");
  Einsum einsum{.operands = read_terms(equation.substr(0, arrow)), .result = {}};
  einsum.result = arrow == std::string_view::npos ? implied_result(einsum.operands)
                                                  : read_term(equation.substr(arrow + 2));
  if (einsum.operands.size() != ranks.size()) {
    refuse(fmt::format("the equation has {} operands, the node {}", einsum.operands.size(),
                       ranks.size()));
  }
  std::string spare = spare_letters(equation).substr(0, kMaxEllipsis);
  size_t widest = 0;
  for (size_t k = 0; k < ranks.size(); ++k) {
    std::string& term = einsum.operands[k];
    const bool has_dots = term.contains(kDots);
    const size_t named = term.size() - (has_dots ? 1 : 0);
    if (named > ranks[k] || (!has_dots && named != ranks[k]) || ranks[k] - named > spare.size()) {
      refuse(fmt::format("the term '{}' for {} dimensions", term, ranks[k]));
    }
    const size_t count = ranks[k] - named;
    widest = std::max(widest, count);
    // Aligned at the right: all ellipses share their last dimensions.
    expand_dots(term, std::string_view(spare).substr(spare.size() - count));
  }
  expand_dots(einsum.result, std::string_view(spare).substr(spare.size() - widest));
  std::string all;
  for (const std::string& term : einsum.operands) all += term;
  for (const char c : einsum.result) {
    if (!all.contains(c) || std::ranges::count(einsum.result, c) != 1) {
      refuse(fmt::format("'{}' in the result of the equation", c));
    }
  }
  return einsum;
}

namespace {

struct Term {
  Tensor tensor;
  std::string letters;
};

// A repeated letter means the diagonal: other elements are set to 0, and one of the two dimensions
// is summed.
Term on_diagonals(Conversion& node, Term term) {
  for (size_t k = 0; k < term.letters.size(); ++k) {
    const size_t again = term.letters.find(term.letters[k], k + 1);
    if (again == std::string::npos) continue;
    const Tensor x = term.tensor;
    const int64_t extent = x->shape()[k];
    if (x->shape()[again] != extent) {
      refuse(fmt::format("'{}' has the extents {} and {}", term.letters[k], extent,
                         x->shape()[again]));
    }
    if (extent > 65536) not_supported(fmt::format("a diagonal of {} elements", extent));
    Shape row = ones(x->rank());
    Shape column = ones(x->rank());
    row[k] = column[again] = extent;
    const Tensor places = node.integers(iota(static_cast<size_t>(extent)));
    const Tensor on = node.emit("equal", {node.reshape(places, row), node.reshape(places, column)});
    const Tensor kept = node.emit("where", {on, x, node.number(0, x->element())});
    const Term smaller{.tensor = node.reduce(kept, "sum", {static_cast<int64_t>(again)}, false),
                       .letters = term.letters.substr(0, again) + term.letters.substr(again + 1)};
    return on_diagonals(node, smaller);
  }
  return term;
}

// Sums the letters that are not needed later, and transposes the others to the order of `wanted`.
Tensor arranged(Conversion& node, const Term& term, const std::string& wanted) {
  Shape summed;
  std::string left;
  for (size_t k = 0; k < term.letters.size(); ++k) {
    if (wanted.contains(term.letters[k])) {
      left.push_back(term.letters[k]);
    } else {
      summed.push_back(static_cast<int64_t>(k));
    }
  }
  const Tensor x =
      summed.empty() ? term.tensor : node.reduce(term.tensor, "sum", std::move(summed), false);
  Shape permutation;
  for (const char c : wanted) {
    if (!left.contains(c)) refuse(fmt::format("'{}' in the result of the equation", c));
    permutation.push_back(static_cast<int64_t>(left.find(c)));
  }
  return node.transpose(x, std::move(permutation));
}

// Letters of both that the result or a later operand needs, in their order.
std::string kept_letters(const Term& a, const Term& b, const std::string& needed) {
  std::string kept;
  for (const char c : a.letters + b.letters) {
    if (needed.contains(c) && !kept.contains(c)) kept.push_back(c);
  }
  return kept;
}

std::vector<Tensor> convert_einsum(Conversion& node) {
  std::vector<size_t> ranks;
  ranks.reserve(node.operand_count());
  for (size_t k = 0; k < node.operand_count(); ++k) ranks.push_back(node.operand(k)->rank());
  if (ranks.empty()) refuse("it has no operands");
  const Einsum einsum = parse_einsum(node.attributes().text("equation", ""), ranks);
  for (const size_t rank : ranks) {
    if (rank > 12) not_supported(fmt::format("of {} dimensions", rank));
  }
  Term all = on_diagonals(node, {.tensor = node.operand(0), .letters = einsum.operands[0]});
  for (size_t k = 1; k < ranks.size(); ++k) {
    const Term next =
        on_diagonals(node, {.tensor = node.operand(k), .letters = einsum.operands[k]});
    std::string needed = einsum.result;
    for (size_t later = k + 1; later < ranks.size(); ++later) needed += einsum.operands[later];
    const bool is_last = k + 1 == ranks.size();
    const std::string kept = is_last ? einsum.result : kept_letters(all, next, needed);
    all.tensor = node.result("contract", {{"a", all.letters}, {"b", next.letters}, {"out", kept}},
                             {all.tensor, next.tensor});
    all.letters = kept;
  }
  return {arranged(node, all, einsum.result)};
}

constexpr ConverterRow kRows[] = {
    {"Einsum", convert_einsum},
};

}  // namespace

std::span<const ConverterRow> einsum_converters() { return kRows; }

}  // namespace tilewright::onnx
