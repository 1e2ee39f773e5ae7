#include "app/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::app {
namespace {

using record::Verdict;
using record::VerdictKind;

Verdict verdict_of(VerdictKind kind, double latency_ns = 0, const std::string& text = "") {
  return {.kind = kind, .latency_ns = latency_ns, .samples_ns = {}, .text = text};
}

struct Pair {
  Verdict written, now;
  bool agrees;
  bool noise;
};
class Agreements : public testing::TestWithParam<Pair> {};

TEST_P(Agreements, MatchTheTable) {
  const auto& [written, now, agrees, noise] = GetParam();
  EXPECT_EQ(app::agrees(written, now), agrees);
  EXPECT_EQ(app::may_be_noise(written, now), noise);
}

TEST(Replay, TheChangeIsRelativeToTheStoredTime) {
  const Verdict written = verdict_of(VerdictKind::Timed, 100);
  EXPECT_DOUBLE_EQ(change_of(written, verdict_of(VerdictKind::Timed, 150)).value(), 0.5);
  EXPECT_DOUBLE_EQ(change_of(written, verdict_of(VerdictKind::Timed, 75)).value(), -0.25);
  EXPECT_EQ(change_of(written, verdict_of(VerdictKind::Censored, 110)), std::nullopt);
  EXPECT_EQ(change_of(verdict_of(VerdictKind::Crash), written), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Agreements,
    testing::Values(
        Pair{verdict_of(VerdictKind::Timed, 100), verdict_of(VerdictKind::Timed, 109), true, false},
        Pair{verdict_of(VerdictKind::Timed, 100), verdict_of(VerdictKind::Timed, 111), false, true},
        Pair{verdict_of(VerdictKind::Timed, 100), verdict_of(VerdictKind::Timed, 89), false, false},
        Pair{verdict_of(VerdictKind::Censored, 100), verdict_of(VerdictKind::Timed, 400), true,
             false},
        Pair{verdict_of(VerdictKind::Censored, 100), verdict_of(VerdictKind::Timed, 50), false,
             false},
        Pair{verdict_of(VerdictKind::Censored, 100), verdict_of(VerdictKind::Censored, 50), true,
             false},
        Pair{verdict_of(VerdictKind::Crash, 0, "a"), verdict_of(VerdictKind::Crash, 0, "b"), true,
             false},
        Pair{verdict_of(VerdictKind::Crash), verdict_of(VerdictKind::WrongResult), false, false},
        Pair{verdict_of(VerdictKind::Crash), verdict_of(VerdictKind::Timed, 5), false, false},
        Pair{verdict_of(VerdictKind::Timed, 100), verdict_of(VerdictKind::Device), false, true},
        Pair{verdict_of(VerdictKind::Timed, 100), verdict_of(VerdictKind::Crash), false, false}));

}  // namespace
}  // namespace tilewright::app
