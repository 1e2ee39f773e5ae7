#include "target/host_features.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace tilewright {
namespace {

constexpr uint32_t kSapphireLeaf1 = (1u << 12) | (1u << 20) | (1u << 27) | (1u << 28) | (1u << 29);

// A processor with everything, under an operating system that enables everything.
CpuidAnswers everything() {
  return {.leaf1_ecx = kSapphireLeaf1,
          .leaf7_ebx = ~0u,
          .leaf7_ecx = ~0u,
          .leaf7_edx = ~0u,
          .leaf7_1_eax = ~0u,
          .xcr0 = ~0ull,
          .amx_granted = true};
}

TEST(HostFeatures, AllBitsGiveAllFeatures) {
  EXPECT_EQ(decode_features(everything()).list().size(), static_cast<size_t>(kFeatureCount));
  EXPECT_TRUE(decode_features({}).empty());
}

TEST(HostFeatures, TheOperatingSystemMustSaveTheRegisters) {
  CpuidAnswers answers = everything();
  answers.xcr0 = 0b111;  // x87, SSE, AVX
  EXPECT_EQ(decode_features(answers).text(), "sse4.2,avx,f16c,fma,avx2,avxvnni");
  answers.xcr0 = 0b011;
  EXPECT_EQ(decode_features(answers).text(), "sse4.2");
  answers.xcr0 = 0b011100111;  // the upper sixteen registers are not saved: no AVX-512
  answers.xcr0 &= ~(1ull << 7);
  EXPECT_FALSE(decode_features(answers).has(Feature::Avx512f));
}

TEST(HostFeatures, AmxNeedsKernelPermission) {
  CpuidAnswers answers = everything();
  answers.amx_granted = false;
  const FeatureSet refused = decode_features(answers);
  EXPECT_FALSE(refused.has(Feature::AmxTile));
  EXPECT_FALSE(refused.has(Feature::AmxInt8));
  EXPECT_TRUE(refused.has(Feature::Avx512fp16));
  answers.amx_granted = true;
  answers.xcr0 &= ~(1ull << 18);
  EXPECT_FALSE(decode_features(answers).has(Feature::AmxTile));
}

TEST(HostFeatures, ImpliedFeaturesAreChecked) {
  CpuidAnswers answers = everything();
  answers.leaf1_ecx &= ~(1u << 12);  // no FMA, which avx512f implies here
  const FeatureSet features = decode_features(answers);
  EXPECT_FALSE(features.has(Feature::Fma));
  EXPECT_FALSE(features.has(Feature::Avx512f));
}

// The kernel's own list is the oracle on the machine at hand.
TEST(HostFeatures, AgreeWithTheKernel) {
  const Result<std::string> cpuinfo = read_file("/proc/cpuinfo");
  if (!cpuinfo) GTEST_SKIP() << "no /proc/cpuinfo";
  const size_t start = cpuinfo->find("\nflags");
  if (start == std::string::npos) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  const std::string flags = cpuinfo->substr(start, cpuinfo->find('\n', start + 1) - start) + " ";
  const auto listed = [&flags](const char* flag) {
    return flags.find(" " + std::string(flag) + " ") != std::string::npos;
  };
  const FeatureSet features = host_features();
  EXPECT_EQ(features.has(Feature::Sse42), listed("sse4_2"));
  EXPECT_EQ(features.has(Feature::Fma), listed("fma"));
  EXPECT_EQ(features.has(Feature::Avx2), listed("avx2"));
  EXPECT_EQ(features.has(Feature::Avx512f), listed("avx512f"));
  EXPECT_EQ(features.has(Feature::Avx512bw), listed("avx512bw"));
  EXPECT_EQ(features.has(Feature::Avx512vnni), listed("avx512_vnni"));
  EXPECT_EQ(features.has(Feature::Avx512bf16), listed("avx512_bf16"));
  EXPECT_EQ(features.has(Feature::Avx512fp16), listed("avx512_fp16"));
  EXPECT_LE(features.has(Feature::AmxTile), listed("amx_tile"));
}

TEST(HostFeatures, TheProcessorHasAName) {
  if (cpu_vendor().empty()) GTEST_SKIP() << "not an x86 processor";
  EXPECT_EQ(cpu_vendor().size(), 12u);
  const std::string model = cpu_model();
  ASSERT_FALSE(model.empty());
  EXPECT_NE(model.front(), ' ');
  EXPECT_NE(model.back(), ' ');
  EXPECT_EQ(model.find('\0'), std::string::npos);
}

}  // namespace
}  // namespace tilewright
