#include "base/stop_token.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <thread>

namespace tilewright {
namespace {

TEST(StopToken, IsNeverRequestedWithoutASource) { EXPECT_FALSE(StopToken().requested()); }

TEST(StopToken, AllCopiesSeeOneRequest) {
  const StopSource source;
  const StopToken token = source.token();
  const StopToken copy = token;  // NOLINT(performance-unnecessary-copy-initialization)
  const StopToken other = StopSource().token();
  EXPECT_FALSE(token.requested());
  source.request();
  EXPECT_TRUE(token.requested());
  EXPECT_TRUE(copy.requested());
  EXPECT_TRUE(source.requested());
  EXPECT_FALSE(other.requested());
}

TEST(StopToken, OutlivesItsSource) {
  std::optional<StopSource> source(std::in_place);
  const StopToken token = source->token();
  source->request();
  source.reset();
  EXPECT_TRUE(token.requested());
}

TEST(StopToken, RequestFromAnotherThreadEndsALoop) {
  const StopSource source;
  std::thread worker([token = source.token()] {
    while (!token.requested()) std::this_thread::yield();
  });
  source.request();
  worker.join();
}

const StopSource* of_handler = nullptr;

TEST(StopToken, ASignalHandlerMayRequest) {
  const StopSource source;
  of_handler = &source;
  const auto previous = std::signal(SIGUSR1, [](int) { of_handler->request(); });
  std::raise(SIGUSR1);
  std::signal(SIGUSR1, previous);
  EXPECT_TRUE(source.token().requested());
}

}  // namespace
}  // namespace tilewright
