#include "record/permissions.h"

#include <gtest/gtest.h>

namespace tilewright::record {
namespace {

TEST(Permissions, PrintInAFixedOrder) {
  EXPECT_EQ(print_permissions(*parse_permissions("contract,reassociate")), "reassociate,contract");
  EXPECT_EQ(print_permissions(*parse_permissions("")), "");
}

TEST(Permissions, OptionalOnesArePrintedOnlyIfSet) {
  EXPECT_EQ(print_permissions({}), "reassociate,contract,approximate,fold,online_softmax");
  const FloatPermissions kept{.denormals = true};
  EXPECT_EQ(print_permissions(kept),
            "reassociate,contract,approximate,fold,online_softmax,denormals");
  EXPECT_EQ(*parse_permissions(print_permissions(kept)), kept);
}

TEST(Permissions, RejectUnknownNames) {
  const auto permissions = parse_permissions("reassociate,tachyons");
  ASSERT_FALSE(permissions);
  EXPECT_EQ(permissions.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(permissions.error().message, "there is no float permission 'tachyons'");
}

}  // namespace
}  // namespace tilewright::record
