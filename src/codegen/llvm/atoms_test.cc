#include "codegen/llvm/atoms.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

TEST(AtomTable, EqualAtomsHaveOneKey) {
  AtomTable atoms;
  const ir::Expr i = ir::var("i"), j = ir::var("j");
  const ir::Expr quotient = i / j, again = i / j;
  const int64_t key = atoms.key(quotient);
  EXPECT_EQ(atoms.key(quotient), key);
  EXPECT_EQ(atoms.key(again), key);
  EXPECT_NE(atoms.key(j / i), key);
  EXPECT_EQ(atoms.key(again), key);  // also after others
}

TEST(AtomTable, VariablesComeFirst) {
  AtomTable atoms;
  const ir::Expr i = ir::var("i"), j = ir::var("j");
  EXPECT_EQ(atoms.key(i), int64_t{i.as<ir::Var>()->id});
  EXPECT_GT(atoms.key(i / j), atoms.key(j));
}

}  // namespace
}  // namespace tilewright::codegen
