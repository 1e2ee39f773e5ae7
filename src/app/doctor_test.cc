#include "app/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

TEST(Doctor, NamesTheRemedyWhereItHelps) {
  const std::array rows = {
      codegen::BackEnd{.name = "bare",
                       .purpose = "",
                       .probe = []() -> Status { return fail(ErrorKind::Unsupported, "no tool"); },
                       .remedy = "install the tool"},
      codegen::BackEnd{.name = "full",
                       .purpose = "",
                       .probe = []() -> Status { return fail(ErrorKind::Io, "no room for files"); },
                       .remedy = "install the tool"}};
  DoctorListener silent;
  const auto report = examine_machine({.threads = 1, .seconds = 0.001, .back_ends = rows}, silent);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->back_ends.size(), 2U);
  const auto missing_of = [&](std::string_view what) {
    for (const MissingPart& part : report->missing) {
      if (part.what.starts_with(what)) return part;
    }
    ADD_FAILURE() << what << " is not missing";
    return MissingPart{};
  };
  EXPECT_EQ(missing_of("back end bare").command, "install the tool");
  EXPECT_THAT(missing_of("back end full").what, HasSubstr("no room for files"));
  EXPECT_EQ(missing_of("back end full").command, "");
}

}  // namespace
}  // namespace tilewright::app
