#include "task/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TEST(ParseWorkload, OperatorsAndSuiteNamesAreOneLanguage) {
  const auto by_name = parse_workload("C2D2");
  const auto by_text = parse_workload(
      "conv2d:n=1,h=14,w=14,ci=256,co=256,kernel=3,stride=1,pad=1,dilation=1,groups=1");
  ASSERT_TRUE(by_name.has_value()) << by_name.error().message;
  ASSERT_TRUE(by_text.has_value()) << by_text.error().message;
  EXPECT_EQ(by_name->key(), by_text->key());
  EXPECT_EQ(by_name->text, "C2D2");
}

TEST(ParseWorkload, TakesLicences) {
  const Licences strict{.reassociate = false, .contract = false};
  EXPECT_EQ(parse_workload("C2D2", strict)->licences, strict);
  EXPECT_EQ(parse_workload("softmax:m=4,n=8", strict)->licences, strict);
}

TEST(ParseWorkload, Mistakes) {
  struct Mistake {
    const char* text;
    ErrorKind kind;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"C2D22", ErrorKind::BadInput, "neither an operator nor a name of the suite; did you mean"},
      {"conv2", ErrorKind::BadInput, "did you mean conv2d"},
      {"", ErrorKind::BadInput, "'' is neither"},
      {"conv2d", ErrorKind::BadInput, "conv2d needs parameter h"},
      {"convd:h=3", ErrorKind::BadInput, "no operator 'convd'; did you mean conv2d"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto workload = parse_workload(mistake.text);
    ASSERT_FALSE(workload.has_value()) << mistake.text;
    EXPECT_EQ(workload.error().kind, mistake.kind) << mistake.text;
    EXPECT_THAT(workload.error().message, HasSubstr(mistake.message));
  }
}

// Who asks for Winograd's algorithm by name allows what it does to results.
TEST(Parse, WinogradBringsItsLicence) {
  EXPECT_TRUE(parse_workload("conv2d_winograd:h=8,w=8,ci=4,co=4")->licences.winograd);
  EXPECT_FALSE(parse_workload("conv2d:h=8,w=8,ci=4,co=4,kernel=3")->licences.winograd);
}

}  // namespace
}  // namespace tilewright
