#include "measure/model_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/stop_token.h"
#include "runtime/host/model_library.h"

namespace tilewright::measure {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;

const std::filesystem::path kFolder = TILEWRIGHT_BAD_MODELS;
const std::filesystem::path kGood = kFolder / "tilewright_model_works.so";
const std::filesystem::path kCrashes = kFolder / "tilewright_model_crashes.so";
const std::filesystem::path kHangs = kFolder / "tilewright_model_hangs.so";
const std::filesystem::path kFails = kFolder / "tilewright_model_fails.so";

ModelTimingOptions options() { return {.workers = TILEWRIGHT_WORKERS, .seconds = 0.05}; }

TEST(ModelTiming, LibrariesAlternateInAWorker) {
  const std::vector libraries = {kGood, kGood};
  const auto timings = time_libraries(libraries, options());
  ASSERT_TRUE(timings.has_value()) << timings.error().message;
  ASSERT_EQ(timings->size(), 2U);
  for (const ModelTiming& one : *timings) {
    EXPECT_FALSE(one.runs_ns.empty());
    EXPECT_TRUE(std::ranges::is_sorted(one.runs_ns));
    EXPECT_THAT(one.runs_ns, Each(Ge(0)));
    EXPECT_THAT(one.steps_ns, ElementsAre(1, 2));
    EXPECT_THAT(one.low_ns, ElementsAre(1, 2));
    EXPECT_GT(one.share, 0);
  }
  EXPECT_TRUE(time_libraries({}, options())->empty());
}

TEST(ModelTiming, ALibraryThatCrashesIsAnErrorWithItsName) {
  const std::vector libraries = {kGood, kCrashes};
  const auto timings = time_libraries(libraries, options());
  ASSERT_FALSE(timings.has_value());
  EXPECT_THAT(timings.error().message, AllOf(HasSubstr("tilewright_model_crashes.so"),
                                             HasSubstr("SIGSEGV"), HasSubstr("while running")));
}

TEST(ModelTiming, ALibraryThatHangsIsKilledAtTheLimit) {
  const std::vector libraries = {kHangs};
  ModelTimingOptions with = options();
  with.limit_s = 0.3;
  const auto timings = time_libraries(libraries, with);
  ASSERT_FALSE(timings.has_value());
  EXPECT_THAT(timings.error().message,
              AllOf(HasSubstr("no result after 0.3 s"), HasSubstr("tilewright_model_hangs.so")));
}

TEST(ModelTiming, AStopRequestEndsTheWait) {
  const std::vector libraries = {kHangs};
  ModelTimingOptions with = options();
  int polls = 0;
  const StopSource source;
  with.stop = [&, token = source.token()] {
    if (++polls == 3) source.request();
    return token.requested();
  };
  const auto timings = time_libraries(libraries, with);
  ASSERT_FALSE(timings.has_value());
  EXPECT_EQ(timings.error().message, "they were interrupted");
  EXPECT_EQ(polls, 3);
}

TEST(ModelTiming, ErrorsOfModelsAndMissingFilesAreReported) {
  EXPECT_THAT(time_libraries(std::vector{kFails}, options()).error().message,
              HasSubstr("a kernel could not get its threads"));
  EXPECT_THAT(time_libraries(std::vector{kFolder / "nothing.so"}, options()).error().message,
              HasSubstr("nothing.so"));
  ModelTimingOptions nowhere = options();
  nowhere.workers = "/nowhere";
  EXPECT_THAT(time_libraries(std::vector{kGood}, nowhere).error().message,
              HasSubstr("cannot start /nowhere/tilewright-run-worker"));
}

TEST(ModelClock, ReportsWholeRunsAndSteps) {
  const auto library = runtime::ModelLibrary::open(kGood);
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const ModelArrays arrays = random_arrays(library->api(), 7);
  const auto instance = runtime::make_instance(library->api(), {});
  ASSERT_TRUE(instance.has_value());
  const TimedModel model{.api = &library->api(), .model = instance->get(), .arrays = &arrays};
  std::vector<size_t> at_work;
  const auto timings =
      time_models(std::span(&model, 1), {.seconds = 0.01,
                                         .stop = [] { return true; },
                                         .at_work = [&](size_t k) { at_work.push_back(k); }});
  ASSERT_TRUE(timings.has_value());
  EXPECT_EQ(timings->front().runs_ns.size(), 1U);  // stopped at once: one run at least
  EXPECT_THAT(timings->front().steps_ns, ElementsAre(1, 2));
  EXPECT_THAT(at_work, ElementsAre(0));
  const auto* const y = arrays.outputs[0].as<const float>();
  for (int k = 0; k < 6; ++k) EXPECT_TRUE(y[k] >= -1 && y[k] < 1);
}

}  // namespace
}  // namespace tilewright::measure
