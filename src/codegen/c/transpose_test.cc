// Squares that are transposed: C = interpreter.
#include "codegen/transpose_testing.h"

#include <gtest/gtest.h>

#include "codegen/c/agreement_testing.h"

namespace tilewright::codegen {
namespace {

class TransposeC : public ::testing::TestWithParam<const char*> {};

TEST_P(TransposeC, EqualsTheInterpreter) {
  Programs programs;
  for (const TransposeProgram& program : transpose_programs()) {
    programs.add(make_transpose_program(program));
  }
  programs.check({.compiler = GetParam()}, host_target(2));
}

INSTANTIATE_TEST_SUITE_P(Compilers, TransposeC, ::testing::ValuesIn(kCompilers),
                         [](const auto& test) { return std::string(test.param).substr(0, 3); });

}  // namespace
}  // namespace tilewright::codegen
