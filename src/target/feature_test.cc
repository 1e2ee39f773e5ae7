#include "target/feature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Feature, TextRoundTripsForEachAlone) {
  for (int k = 0; k < kFeatureCount; ++k) {
    const Feature feature = static_cast<Feature>(k);
    EXPECT_EQ(parse_feature(feature_text(feature)), feature);
    const FeatureSet set = FeatureSet().with(feature);
    EXPECT_TRUE(set.has(feature));
    EXPECT_EQ(parse_features(set.text()), set) << set.text();
  }
}

TEST(Feature, AddingAddsImpliedFeatures) {
  EXPECT_EQ(FeatureSet().with(Feature::Avx512vnni).text(),
            "sse4.2,avx,f16c,fma,avx2,avx512f,avx512vnni");
  EXPECT_EQ(FeatureSet().with(Feature::AmxBf16).text(), "amx_tile,amx_bf16");
}

TEST(Feature, RemovingRemovesDependentFeatures) {
  const FeatureSet all = [] {
    FeatureSet set;
    for (int k = 0; k < kFeatureCount; ++k) set = set.with(static_cast<Feature>(k));
    return set;
  }();
  EXPECT_EQ(all.without(Feature::Avx512f).text(),
            "sse4.2,avx,f16c,fma,avx2,avxvnni,amx_tile,amx_int8,amx_bf16,amx_fp16");
  EXPECT_EQ(all.without(Feature::Sse42).text(), "amx_tile,amx_int8,amx_bf16,amx_fp16");
  EXPECT_EQ(
      all.without(Feature::AmxInt8),
      all.minus(FeatureSet().with(Feature::AmxInt8).minus(FeatureSet().with(Feature::AmxTile))));
}

TEST(Feature, OrderAndRepetitionDoNotMatter) {
  EXPECT_EQ(parse_features("fma,avx2"), parse_features("avx2,avx2,fma,avx"));
  EXPECT_EQ(parse_features(""), FeatureSet());
}

TEST(Feature, Contains) {
  const FeatureSet big = FeatureSet().with(Feature::Avx512bw);
  const FeatureSet small = FeatureSet().with(Feature::Fma);
  EXPECT_TRUE(big.contains(small));
  EXPECT_TRUE(big.contains(big));
  EXPECT_FALSE(small.contains(big));
}

TEST(Feature, UnknownNamesAreErrorsThatListTheKnown) {
  const Result<FeatureSet> set = parse_features("avx2,avx9");
  ASSERT_FALSE(set.has_value());
  EXPECT_THAT(set.error().message,
              testing::StartsWith("'avx9' is not a CPU feature; known: sse4.2"));
  EXPECT_FALSE(parse_features("avx2,").has_value());
  EXPECT_FALSE(parse_features(",avx2").has_value());
  EXPECT_FALSE(parse_features("AVX2").has_value());
}

}  // namespace
}  // namespace tilewright
