#include "codegen/kernel_symbol.h"

#include <cctype>

namespace tilewright::codegen {

std::string kernel_symbol(std::string_view function_name) {
  std::string symbol = "tilewright_";
  for (char c : function_name) {
    symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return symbol;
}

}  // namespace tilewright::codegen
