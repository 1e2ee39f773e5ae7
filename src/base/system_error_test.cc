#include "base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tilewright {
namespace {

TEST(SystemError, HasTheReasonOfTheSystem) {
  const Status status = system_error("cannot read a.txt", ENOENT);
  EXPECT_EQ(status.error().kind, ErrorKind::Io);
  EXPECT_EQ(status.error().message, "cannot read a.txt: No such file or directory");
  EXPECT_EQ(system_reason(EACCES), "Permission denied");
}

}  // namespace
}  // namespace tilewright
