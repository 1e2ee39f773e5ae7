#include "record/permissions.h"

#include <gtest/gtest.h>

namespace tilewright::record {
namespace {

TEST(Permissions, AreWordsInAFixedOrder) {
  EXPECT_EQ(print_permissions(*parse_permissions("contract,reassociate")), "reassociate,contract");
  EXPECT_EQ(print_permissions(*parse_permissions("")), "");
}

TEST(Permissions, RefuseUnknownWords) {
  const auto permissions = parse_permissions("reassociate,tachyons");
  ASSERT_FALSE(permissions);
  EXPECT_EQ(permissions.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(permissions.error().message, "there is no float permission 'tachyons'");
}

}  // namespace
}  // namespace tilewright::record
