// Casts, by the rules of ir/type.h. recipes.cc defines the helpers.
#pragma once

#include <string_view>

#include "codegen/c/c_arithmetic.h"

namespace tilewright::codegen {

class CCasts {
 public:
  CCasts(CValues& values, CArithmetic& arithmetic) : values_(values), arithmetic_(arithmetic) {}

  CValue cast(const CValue& value, ir::Scalar to);
  CValue from_bool(const CValue& value, ir::Scalar to);

 private:
  CValue narrow_float(const CValue& value, ir::Scalar to);
  CValue convert(const CValue& value, ir::Scalar to, std::string_view helper = {});

  CValues& values_;
  CArithmetic& arithmetic_;
};

}  // namespace tilewright::codegen
