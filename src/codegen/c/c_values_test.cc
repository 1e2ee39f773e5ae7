// Text and values alone: no kernel around them.
#include "codegen/c/c_values.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

CValue scalar(const std::string& text) { return {.type = ir::kIndex, .pieces = {{text}}}; }

TEST(CText, NamesAreReusableAfterTheirBlock) {
  CText text;
  EXPECT_EQ(text.fresh("i.0"), "i_0");
  EXPECT_EQ(text.fresh("i.0"), "i_0_1");
  EXPECT_EQ(text.fresh("for"), "for_1");
  EXPECT_EQ(text.fresh("tw_x"), "vtw_x");
  text.block([&] { EXPECT_EQ(text.fresh("j"), "j"); });
  EXPECT_EQ(text.fresh("j"), "j");
  EXPECT_EQ(CText::within(text).fresh("j"), "j_1");
}

TEST(CText, DetachedLinesKeepTheirIndentation) {
  CText text;
  const std::string apart = text.apart([&] { text.block([&] { text.line("x;"); }); });
  text.line("y;");
  text.append(apart);
  EXPECT_EQ(text.text(), "  y;\n    x;\n");
}

class CValuesTest : public ::testing::Test {
 protected:
  CText text_;
  Helpers helpers_;
  CValues values_{text_, helpers_, 8};
};

TEST_F(CValuesTest, CompoundExpressionsGetANameOnce) {
  EXPECT_EQ(values_.bound(scalar("i_0")).pieces[0].text, "i_0");
  EXPECT_EQ(values_.bound(scalar("i + 1")).pieces[0].text, "t0");
  EXPECT_EQ(text_.text(), "  const int64_t t0 = i + 1;\n");
}

TEST_F(CValuesTest, LanesMapToTheirVectors) {
  const CValue value{.type = {ir::Scalar::F32, 13}, .pieces = {{"a"}, {"b"}, {"c"}}};
  EXPECT_EQ(values_.lane(value, 7), "a[7]");
  EXPECT_EQ(values_.lane(value, 8), "b[0]");
  EXPECT_EQ(values_.lane(value, 12), "c");
}

}  // namespace
}  // namespace tilewright::codegen
