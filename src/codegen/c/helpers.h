// Helpers: the types and small functions that the kernels of one C source share. Each is defined
// once, before its first use, and only if it is used. Internal to this folder.
//
//   function("max", {F32, 1})   ->   "tw_max_f32", and in text()
//   static inline float tw_max_f32(float a, float b) { return b != b || b > a ? b : a; }
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "codegen/c/c_type.h"
#include "codegen/c/recipes.h"

namespace tilewright::codegen {

inline constexpr CType kNoType{CBase::I64, 0};

class Helpers {
 public:
  std::string type(CType type);    // its name
  std::string memory(CType type);  // the same, unaligned, and allowed to alias any other type
  // The name of a helper for operands of type `type`; `result` is $R if the recipe has one.
  std::string function(std::string_view name, CType type, CType result = kNoType);

  const std::string& text() const { return text_; }

 private:
  bool is_new(const std::string& name) { return known_.insert(name).second; }
  std::string instantiate(std::string_view pattern, CType type, CType result);
  std::string placeholder(char letter, CType type, CType result);
  std::string body(const Recipe& recipe, CType type, CType result);
  std::string fallback(const Recipe& recipe, CType type, CType result);

  std::unordered_set<std::string> known_;
  std::string text_;
};

}  // namespace tilewright::codegen
