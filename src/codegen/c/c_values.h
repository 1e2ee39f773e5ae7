// CValues: values as C text: pieces, masks, temporaries.
//
// Expressions have no side effects, so a value is text that is valid as long as its operands do not
// change: a statement evaluates everything it reads before it writes. Text that is used more than
// once, or is long, is first bound to a constant.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "arith/interval.h"
#include "codegen/c/c_text.h"
#include "codegen/c/helpers.h"
#include "ir/type.h"

namespace tilewright::codegen {

// Precedence of C text: an Atom needs no parentheses except before a subscript.
enum class Precedence : uint8_t { Atom, Product, Sum };

struct Piece {
  std::string text;
  Precedence precedence = Precedence::Atom;
};

struct CValue {
  ir::Type type;
  std::vector<Piece> pieces;                   // as given by pieces_of; one for a scalar
  int mask_bytes = 0;                          // Bool vector: size of its lanes
  arith::Interval range = arith::kEverything;  // scalar I64
};

// The text, in parentheses if its precedence is lower than `loosest`.
std::string at_most(const Piece& piece, Precedence loosest);
// The text without enclosing parentheses.
std::string bare(const std::string& text);

class CValues {
 public:
  // `limit`: maximum number of lanes per piece.
  CValues(CText& text, Helpers& helpers, unsigned limit)
      : text_(text), helpers_(helpers), limit_(limit) {}

  std::vector<unsigned> lanes_of(ir::Type type) const { return pieces_of(type.lanes, limit_); }
  CType piece_type(const CValue& value, size_t piece) const;
  CValue zeros(ir::Type type) const;
  CValue bound(CValue value);                      // each piece becomes a name or a constant
  CValue declared(ir::Type type, int mask_bytes);  // new variables without a value
  void assign(const CValue& to, const CValue& from);
  std::string lane(const CValue& bound_value, unsigned k) const;
  CValue as_mask(const CValue& value, int bytes);
  CValue both(const CValue& mask, const CValue& other);
  CValue negated(const CValue& mask);
  std::string any(const CValue& mask);  // a condition: any lane is set
  std::string call(std::string_view helper, CType type, std::vector<std::string> arguments,
                   CType result = kNoType);
  // A value of `type` with one piece per piece of `like`; `make` gets the index and the C type of
  // the piece.
  CValue map(ir::Type type, const CValue& like, const std::function<Piece(size_t, CType)>& make);
  CValue broadcast(const CValue& scalar, unsigned lanes);

  Helpers& helpers() { return helpers_; }

 private:
  CText& text_;
  Helpers& helpers_;
  unsigned limit_;
};

}  // namespace tilewright::codegen
