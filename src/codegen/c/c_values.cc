#include "codegen/c/c_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tilewright::codegen {
namespace {

// A name, or an unsigned constant.
bool is_atom(const std::string& text) {
  return std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

}  // namespace

std::string at_most(const Piece& piece, Precedence loosest) {
  return piece.precedence <= loosest ? piece.text : "(" + piece.text + ")";
}

std::string bare(const std::string& text) {
  if (!text.starts_with('(')) return text;
  int open = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    open += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (open == 0) return at + 1 == text.size() ? text.substr(1, at - 1) : text;
  }
  return text;
}

CType CValues::piece_type(const CValue& value, size_t piece) const {
  const unsigned lanes = lanes_of(value.type)[piece];
  if (ir::is_bool(value.type) && lanes > 1) return {signed_of_size(value.mask_bytes), lanes};
  return {c_base(value.type.scalar), lanes};
}

CValue CValues::zeros(ir::Type type) const {
  return {.type = type,
          .pieces = std::vector<Piece>(lanes_of(type).size(), Piece{"0"}),
          .mask_bytes = 1};
}

CValue CValues::bound(CValue value) {
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    Piece& piece = value.pieces[k];
    if (is_atom(piece.text)) continue;
    const std::string name = text_.fresh("t");
    text_.line(fmt::format("const {} {} = {};", helpers_.type(piece_type(value, k)), name,
                           bare(piece.text)));
    piece = {name};
  }
  return value;
}

CValue CValues::declared(ir::Type type, int mask_bytes) {
  CValue value{.type = type, .pieces = {}, .mask_bytes = mask_bytes};
  value.pieces.resize(lanes_of(type).size());
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    value.pieces[k] = {text_.fresh("t")};
    text_.line(fmt::format("{} {};", helpers_.type(piece_type(value, k)), value.pieces[k].text));
  }
  return value;
}

void CValues::assign(const CValue& to, const CValue& from) {
  for (size_t k = 0; k < to.pieces.size(); ++k) {
    if (to.pieces[k].text == from.pieces[k].text) continue;
    text_.line(fmt::format("{} = {};", to.pieces[k].text, bare(from.pieces[k].text)));
  }
}

std::string CValues::lane(const CValue& bound_value, unsigned k) const {
  const std::vector<unsigned> lanes = lanes_of(bound_value.type);
  size_t piece = 0;
  while (k >= lanes[piece]) k -= lanes[piece++];
  const std::string& text = bound_value.pieces[piece].text;
  return lanes[piece] == 1 ? text : fmt::format("{}[{}]", text, k);
}

std::string CValues::call(std::string_view helper, CType type, std::vector<std::string> arguments,
                          CType result) {
  return fmt::format("{}({})", helpers_.function(helper, type, result), fmt::join(arguments, ", "));
}

CValue CValues::map(ir::Type type, const CValue& like,
                    const std::function<Piece(size_t, CType)>& make) {
  CValue result{.type = type, .pieces = {}};
  for (size_t k = 0; k < like.pieces.size(); ++k) {
    result.pieces.push_back(make(k, piece_type(like, k)));
  }
  return result;
}

CValue CValues::as_mask(const CValue& value, int bytes) {
  if (value.mask_bytes == bytes) return value;
  CValue result = map(value.type, value, [&](size_t k, CType type) -> Piece {
    if (!type.is_vector()) return value.pieces[k];
    const std::string to = helpers_.type({signed_of_size(bytes), type.lanes});
    return {fmt::format("__builtin_convertvector({}, {})", value.pieces[k].text, to)};
  });
  result.mask_bytes = bytes;
  return result;
}

CValue CValues::both(const CValue& mask, const CValue& other) {
  const CValue second = as_mask(other, mask.mask_bytes);
  CValue result = map(mask.type, mask, [&](size_t k, CType) -> Piece {
    return {fmt::format("({} & {})", mask.pieces[k].text, second.pieces[k].text)};
  });
  result.mask_bytes = mask.mask_bytes;
  return result;
}

CValue CValues::negated(const CValue& mask) {
  CValue result = map(mask.type, mask, [&](size_t k, CType type) -> Piece {
    return {fmt::format("({}{})", type.is_vector() ? "~" : "!", mask.pieces[k].text)};
  });
  result.mask_bytes = mask.mask_bytes;
  return result;
}

std::string CValues::any(const CValue& mask) {
  std::vector<std::string> parts;
  for (size_t k = 0; k < mask.pieces.size(); ++k) {
    const CType type = piece_type(mask, k);
    const std::string& text = mask.pieces[k].text;
    parts.push_back(type.is_vector() ? call("reduce_or", type, {text}) + " != 0" : text);
  }
  return fmt::format("{}", fmt::join(parts, " || "));
}

CValue CValues::broadcast(const CValue& scalar, unsigned lanes) {
  constexpr int kMaskBytes = 4;  // for float conditions
  CValue result{.type = scalar.type.with_lanes(lanes), .pieces = {}};
  if (ir::is_bool(scalar.type)) result.mask_bytes = kMaskBytes;
  const std::vector<unsigned> pieces = lanes_of(result.type);
  const CValue value = pieces.size() > 1 ? bound(scalar) : scalar;
  result.pieces.resize(pieces.size());
  for (size_t k = 0; k < pieces.size(); ++k) {
    const CType type = piece_type(result, k);
    const Piece& one = value.pieces[0];
    if (!type.is_vector()) {
      result.pieces[k] = one;
    } else {
      const bool is_mask = ir::is_bool(scalar.type);
      result.pieces[k] = {call("splat", type, {is_mask ? "-(int32_t)" + one.text : one.text})};
    }
  }
  return result;
}

}  // namespace tilewright::codegen
