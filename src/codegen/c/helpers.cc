#include "codegen/c/helpers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace tilewright::codegen {
namespace {

CType type_of_letter(char letter, CType type, CType result) {
  const auto sized = [](CBase (*of_size)(int), CType t) {
    return CType{of_size(bytes_of(t.base)), t.lanes};
  };
  switch (letter) {
    case 'T':
      return type;
    case 'R':
      return result;
    case 'E':
      return type.element();
    case 'I':
      return sized(signed_of_size, type);
    case 'J':
      return sized(signed_of_size, result);
    case 'U':
      if (!type.is_vector() && bytes_of(type.base) < 4) return {CBase::U32, 1};
      return sized(unsigned_of_size, type);
    case 'V':
      return sized(unsigned_of_size, result);
    case 'D':
      return {CBase::F64, type.lanes};
    case 'F':
      return {CBase::F32, type.lanes};
    case 'K':
      return {CBase::U32, type.lanes};
    case 'L':
      return {CBase::I64, type.lanes};
    case 'H':
      return type.with_lanes(type.lanes / 2);
    default:
      break;
  }
  CHECK(false, "'{}' stands for no type", letter);
}

// The lanes [first, first + count) of `a`.
std::string lanes_of_a(unsigned first, unsigned count) {
  if (count == 1) return fmt::format("a[{}]", first);
  std::string text = "__builtin_shufflevector(a, a";
  for (unsigned k = first; k < first + count; ++k) text += fmt::format(", {}", k);
  return text + ")";
}

std::string repeated(std::string_view text, unsigned count) {
  std::string list(text);
  for (unsigned k = 1; k < count; ++k) list += fmt::format(", {}", text);
  return list;
}

// "$T a, const void* p" -> "a[k], p[k]" with `index` = "[k]", "a, p" without.
std::string arguments_of(std::string_view parameters, std::string_view index) {
  std::string list;
  for (size_t at = 0; at < parameters.size();) {
    const size_t comma = std::min(parameters.find(',', at), parameters.size());
    const std::string_view parameter = parameters.substr(at, comma - at);
    if (!list.empty()) list += ", ";
    list += parameter.substr(parameter.rfind(' ') + 1);
    list += index;
    at = comma + 1;
  }
  return list;
}

std::string saturation_bound(CBase from, CBase to, bool upper) {
  const int bits = 8 * bytes_of(to);
  const char* end = from == CBase::F32 ? "f" : "";
  if (is_signed_integer(to)) return fmt::format("{}0x1p{}{}", upper ? "" : "-", bits - 1, end);
  return upper ? fmt::format("0x1p{}{}", bits, end) : fmt::format("0.0{}", end);
}

std::string extreme_bits(CBase base, bool largest) {
  const int bits = 8 * bytes_of(base);
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  const uint64_t top = uint64_t{1} << (bits - 1);
  const bool has_sign = is_signed_integer(base);
  const uint64_t value = largest ? (has_sign ? all >> 1 : all) : (has_sign ? top : 0);
  return fmt::format("{:#x}{}", value, bits == 64 ? "ull" : "u");
}

constexpr bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string Helpers::type(CType type) {
  const std::string name = name_of(type);
  if (type.is_vector() && is_new(name)) {
    const unsigned bytes = static_cast<unsigned>(bytes_of(type.base)) * type.lanes;
    constexpr unsigned kRegister = 64;  // larger alignment gains nothing
    text_ +=
        fmt::format("typedef {} {} __attribute__((vector_size({}){}));\n", name_of(type.element()),
                    name, bytes, bytes > kRegister ? fmt::format(", aligned({})", kRegister) : "");
  }
  return name;
}

std::string Helpers::memory(CType type) {
  const std::string name = fmt::format("tw_{}_u", suffix_of(type));
  if (is_new(name)) {
    text_ += fmt::format("typedef {} {} __attribute__((aligned({}), may_alias));\n",
                         this->type(type), name, bytes_of(type.base));
  }
  return name;
}

std::string Helpers::function(std::string_view name, CType type, CType result) {
  std::string full = fmt::format("tw_{}", name);
  if (result.lanes > 0) full += "_" + suffix_of(result);
  full += "_" + suffix_of(type);
  if (!is_new(full)) return full;
  const Recipe& recipe = find_recipe(name, type.base);
  // Dependencies come before it.
  const std::string result_text = instantiate(recipe.result, type, result);
  const std::string parameters = instantiate(recipe.parameters, type, result);
  const std::string statements = body(recipe, type, result);
  text_ += fmt::format("TW_INLINE {} {}({}) {{\n{}}}\n", result_text, full, parameters, statements);
  return full;
}

std::string Helpers::body(const Recipe& recipe, CType type, CType result) {
  const auto line = [](const std::string& text) {
    return text.starts_with('#') ? text + "\n" : "  " + text + "\n";
  };
  std::string text;
  const char* keyword = "#if";
  const auto alternative = [&](const std::string& condition, const std::string& statement) {
    text += fmt::format("{} {}\n", keyword, condition) + line(statement);
    keyword = "#elif";
  };
  const char* give = recipe.result == "void" ? "" : "return ";
  if (!recipe.elementwise.empty()) {
    alternative(
        fmt::format("TW_HAS_BUILTIN({})", recipe.elementwise),
        fmt::format("return {}({});", recipe.elementwise, arguments_of(recipe.parameters, "")));
  }
  const int register_bytes = bytes_of(type.base) * static_cast<int>(type.lanes);
  for (const NativeForm& form : recipe.native) {
    if (!type.is_vector() || form.register_bytes != register_bytes) continue;
    if (bytes_of(type.base) < recipe.native_element_bytes) continue;
    alternative(fmt::format("defined({})", form.macro),
                give + instantiate(form.expression, type, result) + ";");
  }
  std::string otherwise = line(fallback(recipe, type, result));
  if (text.empty()) return otherwise;
  return text + "#else\n" + otherwise + "#endif\n";
}

std::string Helpers::fallback(const Recipe& recipe, CType type, CType result) {
  if (!type.is_vector()) return instantiate(recipe.scalar, type, result);
  if (!recipe.vector.empty()) return instantiate(recipe.vector, type, result);
  const CType result_element = result.lanes > 0 ? result.element() : result;
  const std::string each = function(recipe.name, type.element(), result_element);
  return fmt::format("{} r = {{0}};\n  for (int k = 0; k < {}; ++k) r[k] = {}({});\n  return r;",
                     instantiate(recipe.result, type, result), type.lanes, each,
                     arguments_of(recipe.parameters, "[k]"));
}

std::string Helpers::instantiate(std::string_view pattern, CType type, CType result) {
  std::string text;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '$') {
      text += placeholder(pattern[++at], type, result);
    } else if (pattern[at] == '@') {
      size_t end = at + 1;
      while (is_name(pattern[end])) ++end;
      const std::string_view name = pattern.substr(at + 1, end - at - 1);
      const CType first = type_of_letter(pattern[++end], type, result);
      const bool has_second = std::isupper(static_cast<unsigned char>(pattern[end + 1])) != 0;
      const CType second = has_second ? type_of_letter(pattern[++end], type, result) : kNoType;
      text += function(name, first, second);
      at = end;
    } else {
      text += pattern[at];
    }
  }
  return text;
}

std::string Helpers::placeholder(char letter, CType type, CType result) {
  const bool is_f32 = type.base == CBase::F32;
  const int bits = 8 * bytes_of(type.base);
  switch (letter) {
    case 'N':
      return std::to_string(type.lanes);
    case 'A':
      return memory(type);
    case 'B':
      return memory(type.element());
    case 'l':
      return lanes_of_a(0, type.lanes / 2);
    case 'h':
      return lanes_of_a(type.lanes / 2, type.lanes / 2);
    case '1':
      return repeated("a", type.lanes);
    case 'f':
      return is_f32 ? "f" : "";
    case 'p':
      return is_f32 ? "ps" : "pd";
    case 'd':
      return is_f32 ? "" : "d";
    case 'b':
      return std::to_string(bits);
    case 'n':
      return std::to_string(bits - 1);
    case 'c':
      return bits == 64 ? "long long" : "int";
    case '+':
    case '-':
      return saturation_bound(type.base, result.base, letter == '+');
    case 'M':
    case 'm':
      return extreme_bits(result.base, letter == 'M');
    default:
      return this->type(type_of_letter(letter, type, result));
  }
}

}  // namespace tilewright::codegen
