#include "codegen/c/c_type.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "base/check.h"

namespace tilewright::codegen {
namespace {

struct Row {
  const char* suffix;
  const char* name;
  int bytes;
};

constexpr Row kRows[] = {
    {"bool", "bool", 1},    {"i8", "int8_t", 1},  {"i16", "int16_t", 2},  {"i32", "int32_t", 4},
    {"i64", "int64_t", 8},  {"u8", "uint8_t", 1}, {"u16", "uint16_t", 2}, {"u32", "uint32_t", 4},
    {"u64", "uint64_t", 8}, {"f32", "float", 4},  {"f64", "double", 8},
};

const Row& row(CBase base) { return kRows[static_cast<size_t>(base)]; }

}  // namespace

int bytes_of(CBase base) { return row(base).bytes; }
bool is_float(CBase base) { return base >= CBase::F32; }
bool is_signed_integer(CBase base) { return base >= CBase::I8 && base <= CBase::I64; }

CBase signed_of_size(int bytes) {
  return static_cast<CBase>(static_cast<int>(CBase::I8) +
                            std::countr_zero(static_cast<unsigned>(bytes)));
}
CBase unsigned_of_size(int bytes) {
  return static_cast<CBase>(static_cast<int>(CBase::U8) +
                            std::countr_zero(static_cast<unsigned>(bytes)));
}

std::string suffix_of(CType type) {
  std::string text = row(type.base).suffix;
  if (type.is_vector()) text += "x" + std::to_string(type.lanes);
  return text;
}

std::string name_of(CType type) {
  return type.is_vector() ? "tw_" + suffix_of(type) : row(type.base).name;
}

CBase c_base(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::Bool:
      return CBase::Bool;
    case ir::Scalar::I8:
      return CBase::I8;
    case ir::Scalar::I16:
      return CBase::I16;
    case ir::Scalar::I32:
      return CBase::I32;
    case ir::Scalar::I64:
      return CBase::I64;
    case ir::Scalar::U8:
      return CBase::U8;
    case ir::Scalar::U16:
    case ir::Scalar::F16:
    case ir::Scalar::BF16:
      return CBase::U16;
    case ir::Scalar::U32:
      return CBase::U32;
    case ir::Scalar::F32:
      return CBase::F32;
    case ir::Scalar::F64:
      return CBase::F64;
  }
  CHECK(false, "a type without a counterpart in C");
}

CBase c_memory(ir::Scalar scalar) {
  return scalar == ir::Scalar::Bool ? CBase::U8 : c_base(scalar);
}

std::string c_name(std::string_view text) {
  std::string name;
  for (char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::vector<unsigned> pieces_of(unsigned lanes, unsigned limit) {
  std::vector<unsigned> pieces;
  while (lanes > 0) {
    pieces.push_back(std::min(std::bit_floor(lanes), limit));
    lanes -= pieces.back();
  }
  return pieces;
}

}  // namespace tilewright::codegen
