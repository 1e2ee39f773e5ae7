#include "codegen/c/recipes.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace tilewright::codegen {
namespace {

TEST(Recipes, TheDomainSelectsTheRow) {
  EXPECT_NE(&find_recipe("add", CBase::I32), &find_recipe("add", CBase::F32));
  EXPECT_EQ(&find_recipe("add", CBase::F64), &find_recipe("add", CBase::F32));
  EXPECT_NE(&find_recipe("ldexp", CBase::F64), &find_recipe("ldexp", CBase::F32));
  EXPECT_EQ(&find_recipe("select", CBase::U8), &find_recipe("select", CBase::F64));
}

TEST(Recipes, EveryRowIsFoundByName) {
  EXPECT_EQ(find_recipe("fma", CBase::F32).name, "fma");
  EXPECT_EQ(find_recipe("fma", CBase::F32).domain, Domain::Float);
  EXPECT_FALSE(find_recipe("fma", CBase::F32).native.empty());
}

TEST(Recipes, AnUnknownHelperIsABug) {
  EXPECT_THROW(find_recipe("fma", CBase::I32), InternalError);
  EXPECT_THROW(find_recipe("nothing", CBase::F32), InternalError);
}

}  // namespace
}  // namespace tilewright::codegen
