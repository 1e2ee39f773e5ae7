#include "app/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/clock.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

TEST(Doctor, PrintsTheRemedyOfMissingBackEnds) {
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
  const auto report =
      examine_machine({.threads = 1, .seconds = 0.001, .tables = {.back_ends = rows}}, silent, {});
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
  EXPECT_NE(report->fma_instructions, "");
  EXPECT_FALSE(report->stopped);
}

TEST(Doctor, AStopEndsTheMeasurements) {
  struct Stopping : DoctorListener {
    void on_measuring(int) override { stop.request(); }
    StopSource stop;
  } stopping;
  const double begin_s = seconds_now();
  const auto report =
      examine_machine({.threads = 2, .seconds = 60, .tables = {}}, stopping, stopping.stop.token());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(report->limits.size(), 1U);
  EXPECT_TRUE(report->back_ends.empty());
  EXPECT_LT(seconds_now() - begin_s, 60);
}

}  // namespace
}  // namespace tilewright::app
