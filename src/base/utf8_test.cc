#include "base/utf8.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Utf8, ValidTextIsUnchanged) {
  const std::string text = "plain, \xC3\xA9, \xE5\xB1\x82, \xF0\x9F\x98\x80";
  EXPECT_EQ(clean_utf8(text), text);
  EXPECT_EQ(code_point_count(text), 14U);
  EXPECT_EQ(code_point_count(""), 0U);
}

TEST(Utf8, InvalidBytesBecomeQuestionMarks) {
  EXPECT_EQ(clean_utf8("a\xFFz"), "a?z");
  EXPECT_EQ(clean_utf8("\x80"), "?");
  EXPECT_EQ(clean_utf8("\xC0\xAF"), "??");            // longer than it need be
  EXPECT_EQ(clean_utf8("\xED\xA0\x80"), "???");       // half of a pair
  EXPECT_EQ(clean_utf8("\xF4\x90\x80\x80"), "????");  // beyond the last
  EXPECT_EQ(clean_utf8("\xEF\xBF\xBF"), "???");       // not in XML
  EXPECT_EQ(clean_utf8("\xE5\xB1"), "??");            // cut off
  EXPECT_EQ(clean_utf8(std::string("\0\n\x7F", 3)), "   ");
}

TEST(Utf8, IsTruncatedAtCodePoints) {
  std::string text;
  for (int k = 0; k < 5; ++k) text += "\xE5\xB1\x82";
  EXPECT_EQ(first_code_points(text, 5), text);
  EXPECT_EQ(first_code_points(text, 3), "\xE5\xB1\x82\xE5\xB1\x82~");
  EXPECT_EQ(first_code_points("abc", 1), "~");
}

}  // namespace
}  // namespace tilewright
