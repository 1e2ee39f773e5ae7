// Values as C text: pieces, masks, temporaries.
//
// Expressions have no effects, so a value is text that may stand wherever its operands do not
// change: a statement evaluates all it reads before it writes. What is used more than once, or
// grows long, is bound to a constant first.
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

// How tightly C text binds: an Atom may stand anywhere but before a subscript.
enum class Level : uint8_t { Atom, Product, Sum };

struct Piece {
  std::string text;
  Level level = Level::Atom;
};

struct CValue {
  ir::Type type;
  std::vector<Piece> pieces;                   // as pieces_of says; one for a scalar
  int mask_bytes = 0;                          // of a Bool vector: the size of its lanes
  arith::Interval range = arith::kEverything;  // of a scalar I64
};

// The text with parentheses unless it binds at least as tightly as `most`.
std::string at_most(const Piece& piece, Level most);
// The text without the parentheses around all of it, if it has them.
std::string bare(const std::string& text);

class CValues {
 public:
  // `limit`: lanes of a piece at most.
  CValues(CText& text, Helpers& helpers, unsigned limit)
      : text_(text), helpers_(helpers), limit_(limit) {}

  std::vector<unsigned> lanes_of(ir::Type type) const { return pieces_of(type.lanes, limit_); }
  CType piece_type(const CValue& value, size_t piece) const;
  CValue zeros(ir::Type type) const;
  CValue bound(CValue value);                      // each piece a name or a constant
  CValue declared(ir::Type type, int mask_bytes);  // new variables without a value
  void assign(const CValue& to, const CValue& from);
  std::string lane(const CValue& bound_value, unsigned k) const;
  CValue as_mask(const CValue& value, int bytes);
  CValue both(const CValue& mask, const CValue& other);
  CValue negated(const CValue& mask);
  std::string any(const CValue& mask);  // whether any lane is set, as text of a condition
  std::string call(std::string_view helper, CType type, std::vector<std::string> arguments,
                   CType result = kNoType);
  // A value of `type` with a piece for each of `like`'s; `make` gets that one's number and C type.
  CValue map(ir::Type type, const CValue& like, const std::function<Piece(size_t, CType)>& make);
  CValue broadcast(const CValue& scalar, unsigned lanes);

  Helpers& helpers() { return helpers_; }

 private:
  CText& text_;
  Helpers& helpers_;
  unsigned limit_;
};

}  // namespace tilewright::codegen
