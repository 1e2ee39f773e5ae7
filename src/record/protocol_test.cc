#include "record/protocol.h"

#include <gtest/gtest.h>

namespace tilewright::record {
namespace {

TEST(Protocol, RoundTripsThroughText) {
  const Protocol warm{.version = 1, .cache = CachePolicy::Warm, .interleaved = false};
  EXPECT_EQ(print_protocol(warm), "v1;warm");
  for (const char* text : {"v1;warm", "v1;weights_cold;interleaved", "v2;cold",
                           "v1;warm;back_end=c", "v1;in_model;interleaved;back_end=c"}) {
    const Result<Protocol> read = parse_protocol(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(print_protocol(*read), text);
  }
  EXPECT_EQ(parse_protocol("v1;warm;interleaved;back_end=c")->back_end, "c");
}

TEST(Protocol, RejectsOtherTexts) {
  for (const char* text : {"", "v1", "warm", "v1;lukewarm", "v1;warm;", "v1;warm;alone",
                           "v1;warm;back_end=", "v1;warm;back_end=c;interleaved",
                           "v1;warm;back_end=c;back_end=d", "v01;warm"}) {
    EXPECT_FALSE(parse_protocol(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tilewright::record
