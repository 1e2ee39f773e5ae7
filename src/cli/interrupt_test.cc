#include "cli/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tilewright::cli {
namespace {

TEST(Interrupt, FirstSignalRequestsAStop) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    const StopToken token = interrupt.token();
    EXPECT_FALSE(interrupt.requested());
    EXPECT_FALSE(token.requested());
    ASSERT_EQ(std::raise(signal), 0);
    EXPECT_TRUE(interrupt.requested());
    EXPECT_TRUE(token.requested());
  }
}

TEST(Interrupt, SourceRequestsAStop) {
  const Interrupt interrupt;
  interrupt.source().request();
  EXPECT_TRUE(interrupt.requested());
}

TEST(Interrupt, RestoresPreviousHandlers) {
  struct sigaction before{};
  struct sigaction after{};
  sigaction(SIGINT, nullptr, &before);
  {
    const Interrupt interrupt;
  }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

// Like a handler that runs on another thread when the Interrupt is destroyed.
TEST(Interrupt, SourceOutlivesTheInterrupt) {
  const StopSource* source = nullptr;
  {
    const Interrupt interrupt;
    source = &interrupt.source();
  }
  const Interrupt next;
  source->request();
  EXPECT_TRUE(source->requested());
  EXPECT_FALSE(next.requested());
}

}  // namespace
}  // namespace tilewright::cli
