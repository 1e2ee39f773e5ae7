// Types of the C source. Internal to this folder.
//
// A value of the loop IR is held in one or more pieces. A piece is a scalar or a GNU vector whose
// number of lanes is a power of two (required by vector_size), at most the limit that fits a
// register:
//
//   f32x16, at most 16 lanes each     ->  tw_f32x16
//   f32x13                            ->  tw_f32x8, tw_f32x4, float
//   f32x40                            ->  tw_f32x16, tw_f32x16, tw_f32x8
//
// F16 and BF16 are held as their bits. A Bool is a `bool`; the lanes of a Bool vector are signed
// integers of any size, 0 or -1, as vector comparisons produce them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace tilewright::codegen {

enum class CBase : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64 };

struct CType {
  CBase base = CBase::I64;
  unsigned lanes = 1;

  constexpr bool operator==(const CType&) const = default;
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr CType element() const { return {base, 1}; }
  constexpr CType with_lanes(unsigned n) const { return {base, n}; }
};

int bytes_of(CBase base);
bool is_float(CBase base);
bool is_signed_integer(CBase base);
CBase signed_of_size(int bytes);
CBase unsigned_of_size(int bytes);

std::string suffix_of(CType type);  // "f32x16", "i64": suffix of helper names
std::string name_of(CType type);    // "tw_f32x16", "int64_t"
CBase c_base(ir::Scalar scalar);    // of a value other than a Bool vector
CBase c_memory(ir::Scalar scalar);  // of an element in memory: Bool is a byte

// Converts text to a part of a C name: `i.0` -> `i_0`.
std::string c_name(std::string_view text);

// The lanes of each piece of a vector.
std::vector<unsigned> pieces_of(unsigned lanes, unsigned limit);

}  // namespace tilewright::codegen
