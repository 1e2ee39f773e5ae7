#include "target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/host_features.h"
#include "target/target_examples.h"

namespace tilewright {
namespace {

constexpr const char* kV3 = "x86-64:sse4.2,avx,f16c,fma,avx2;threads=1";

struct Form {
  std::string text;
  std::string canonical;
  int vector_bits;
  int vector_registers;
};

class TargetForms : public testing::TestWithParam<Form> {};

TEST(Target, ExamplesAreLegal) {
  for (const std::string_view text : kTargetExamples) {
    EXPECT_TRUE(parse_target(text).has_value()) << text;
  }
}

TEST_P(TargetForms, ParseAndPrint) {
  const Result<Target> target = parse_target(GetParam().text);
  ASSERT_TRUE(target.has_value()) << target.error().message;
  EXPECT_EQ(print_target(*target), GetParam().canonical);
  EXPECT_EQ(target->vector_bytes(), GetParam().vector_bits / 8);
  EXPECT_EQ(target->vector_registers(), GetParam().vector_registers);
  EXPECT_EQ(parse_target(print_target(*target)), *target);
}

INSTANTIATE_TEST_SUITE_P(
    Table, TargetForms,
    testing::Values(
        Form{"x86-64", "x86-64;threads=1", 128, 16},
        Form{"x86-64-v2;threads=3", "x86-64:sse4.2;threads=3", 128, 16},
        Form{"x86-64-v3", kV3, 256, 16}, Form{"x86-64:fma,avx2,f16c", kV3, 256, 16},
        Form{"x86-64-v3:avxvnni", "x86-64:sse4.2,avx,f16c,fma,avx2,avxvnni;threads=1", 256, 16},
        Form{"x86-64-v3;vector_bits=256", kV3, 256, 16},
        Form{"x86-64:avx512f;vector_bits=256;threads=2",
             "x86-64:sse4.2,avx,f16c,fma,avx2,avx512f;threads=2;vector_bits=256", 256, 32},
        Form{
            "x86-64-v4",
            "x86-64:sse4.2,avx,f16c,fma,avx2,avx512f,avx512cd,avx512bw,avx512dq,avx512vl;threads=1",
            512, 32},
        Form{"aarch64", "aarch64;threads=1", 128, 32},
        Form{"aarch64;threads=4", "aarch64;threads=4", 128, 32},
        Form{"cuda:sm_75", "cuda:sm_75", 128, 63}, Form{"cuda:sm_90", "cuda:sm_90", 128, 63},
        Form{"cuda:sm_90a", "cuda:sm_90a", 128, 63}, Form{"cuda:sm_120", "cuda:sm_120", 128, 63}));

struct Mistake {
  std::string text;
  std::string message;  // its beginning
};

class TargetMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(TargetMistakes, AreExplained) {
  const Result<Target> target = parse_target(GetParam().text);
  ASSERT_FALSE(target.has_value());
  EXPECT_EQ(target.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(target.error().message, testing::StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, TargetMistakes,
    testing::Values(Mistake{"", "target '' is unknown"},
                    Mistake{"arm64", "target 'arm64' is unknown"},
                    Mistake{"aarch64:avx2", "'avx2' is not a CPU feature of aarch64"},
                    Mistake{"aarch64;vector_bits=256", "vector_bits=256: aarch64 has 128"},
                    Mistake{"cuda", "target cuda: say the compute capability"},
                    Mistake{"cuda:", "'' is not a compute capability; known: sm_75, sm_80"},
                    Mistake{"cuda:sm_99", "'sm_99' is not a compute capability"},
                    Mistake{"cuda:sm_80a", "'sm_80a' is not a compute capability"},
                    Mistake{"cuda:sm_90;threads=2", "target: 'threads=2' is unknown"},
                    Mistake{"cudax", "target 'cudax' is unknown"},
                    Mistake{"x86-64:avx3", "'avx3' is not a CPU feature"},
                    Mistake{"x86-64:", "target 'x86-64:': say CPU features after the colon"},
                    Mistake{"x86-64-v3:;threads=2", "target 'x86-64-v3:': say CPU features"},
                    Mistake{"aarch64:", "target 'aarch64:': say CPU features"},
                    Mistake{"x86-64;threads=2;threads=2", "target: threads is given twice"},
                    Mistake{"x86-64-v3;vector_bits=128;threads=2;vector_bits=256",
                            "target: vector_bits is given twice"},
                    Mistake{"x86-64;threads=4097", "a target has 1 to 4096 threads, not 4097"},
                    Mistake{"x86-64;threads=0", "a target has 1 to 4096 threads, not 0"},
                    Mistake{"x86-64;threads=two", "target: threads is a number, not 'two'"},
                    Mistake{"x86-64;threads", "target: 'threads' is unknown"},
                    Mistake{"x86-64;", "target: '' is unknown"},
                    Mistake{"x86-64;cache=3", "target: 'cache=3' is unknown"},
                    Mistake{"x86-64;vector_bits=64", "vector_bits is 128, 256 or 512, not 64"},
                    Mistake{"x86-64-v3;vector_bits=512", "vector_bits=512 needs avx512f"},
                    Mistake{"x86-64;vector_bits=256", "vector_bits=256 needs avx;"}));

TEST(Target, LanesByElementSize) {
  const Target target = *parse_target("x86-64-v4");
  EXPECT_EQ(target.lanes(4), 16);
  EXPECT_EQ(target.lanes(1), 64);
  EXPECT_EQ(parse_target("x86-64-v3")->lanes(8), 4);
}

// Records and stores of every version have these texts.
TEST(Target, StoredFormsStayAsTheyAre) {
  const Target target = *parse_target("x86-64-v3;threads=2");
  EXPECT_EQ(print_target(target), "x86-64:sse4.2,avx,f16c,fma,avx2;threads=2");
  EXPECT_EQ(print_target(Target()), "x86-64;threads=1");
}

TEST(Target, CapabilitiesByKind) {
  const Target plain = *parse_target("x86-64-v4");
  const Target dots = *parse_target("x86-64-v4:avx512vnni");
  const Target arm = *parse_target("aarch64;threads=3");
  const Target gpu = *parse_target("cuda:sm_90a");
  EXPECT_FALSE(plain.has(Capability::DotU8I8Lanes16));
  EXPECT_TRUE(dots.has(Capability::DotU8I8Lanes16));
  EXPECT_FALSE(dots.has(Capability::DotBf16Lanes16));
  EXPECT_EQ(requirement_text(Capability::DotBf16Lanes16, dots), "the CPU feature avx512bf16");
  for (const Target& other : {arm, gpu}) {
    EXPECT_FALSE(other.has(Capability::DotU8I8Lanes16));
    EXPECT_FALSE(other.has(Feature::Sse42));
    EXPECT_EQ(other.lanes(4), 4);
  }
  EXPECT_EQ(arm.threads(), 3);
  EXPECT_EQ(gpu.threads(), 1);
  EXPECT_EQ(gpu.with_threads(8), gpu);
}

TEST(Target, ArchitectureSpecificCapabilitiesAreNotInherited) {
  const auto device = [](const char* text) { return *parse_compute_capability(text); };
  EXPECT_TRUE(device("sm_90").includes(device("sm_80")));
  EXPECT_TRUE(device("sm_90a").includes(device("sm_90")));
  EXPECT_TRUE(device("sm_90a").includes(device("sm_90a")));
  EXPECT_FALSE(device("sm_80").includes(device("sm_90")));
  EXPECT_FALSE(device("sm_90").includes(device("sm_90a")));
  EXPECT_FALSE(device("sm_100").includes(device("sm_90a")));
  EXPECT_FALSE(device("sm_100a").includes(device("sm_90a")));
}

TEST(Target, ThreadAxesAreThoseOfADevice) {
  EXPECT_FALSE(parse_target("x86-64-v4;threads=8")->has_thread_axes());
  EXPECT_TRUE(parse_target("cuda:sm_75")->has_thread_axes());
}

TEST(Target, ThreadAxesHaveLimits) {
  using enum ThreadAxis;
  const Target cpu = *parse_target("x86-64-v4;threads=8");
  const Target gpu = *parse_target("cuda:sm_90");
  for (const ThreadAxis axis : {None, BlockX, BlockZ, ThreadX, ThreadZ, VirtualThread}) {
    EXPECT_EQ(cpu.max_extent(axis), 0);
  }
  EXPECT_EQ(gpu.max_extent(None), 0);
  EXPECT_EQ(gpu.max_extent(BlockX), (int64_t{1} << 31) - 1);
  EXPECT_EQ(gpu.max_extent(BlockY), 65535);
  EXPECT_EQ(gpu.max_extent(BlockZ), 65535);
  EXPECT_EQ(gpu.max_extent(ThreadX), 1024);
  EXPECT_EQ(gpu.max_extent(ThreadY), 1024);
  EXPECT_EQ(gpu.max_extent(ThreadZ), 64);
  EXPECT_EQ(gpu.max_extent(VirtualThread), INT64_MAX);
  EXPECT_EQ(cpu.threads_per_block(), 0);
  EXPECT_EQ(gpu.threads_per_block(), 1024);
  EXPECT_EQ(cpu.warp_size(), 1);
  EXPECT_EQ(gpu.warp_size(), 32);
}

TEST(Target, MemoryByScope) {
  const Target cpu = *parse_target("x86-64-v4");
  const Target gpu = *parse_target("cuda:sm_90a");
  EXPECT_EQ(cpu.bytes(MemoryScope::Register), 32 * 64);
  EXPECT_FALSE(cpu.has(MemoryScope::Shared));
  EXPECT_TRUE(cpu.has(MemoryScope::Local));
  EXPECT_EQ(gpu.bytes(MemoryScope::Register), 255 * 4);
  EXPECT_EQ(gpu.bytes(MemoryScope::Shared), 227 << 10);
  EXPECT_EQ(parse_target("cuda:sm_75")->bytes(MemoryScope::Shared), 64 << 10);
  EXPECT_EQ(gpu.bytes(MemoryScope::Global), cpu.bytes(MemoryScope::Global));
}

TEST(Target, LimitsOfADevice) {
  const Target gpu = *parse_target("cuda:sm_86");
  const CudaLimits& limits = gpu.cuda()->limits();
  EXPECT_EQ(limits.warp_size, 32);
  EXPECT_EQ(limits.threads_per_block, 1024);
  EXPECT_EQ(limits.threads_per_sm, 1536);
  EXPECT_EQ(limits.shared_bytes_per_block, 48 << 10);
  EXPECT_EQ(limits.shared_bytes_opt_in, 99 << 10);
  EXPECT_EQ(limits.registers_per_sm, 65536);
  EXPECT_EQ(limits.grid[1], 65535);
}

TEST(Target, OtherKindsDoNotRunHere) {
  const CpuArch other = kHostArch == CpuArch::X86_64 ? CpuArch::Aarch64 : CpuArch::X86_64;
  EXPECT_FALSE(check_runs_here(CpuTarget{.arch = other}).has_value());
  EXPECT_FALSE(check_runs_here(*parse_target("cuda:sm_90")).has_value());
}

TEST(Target, HostRunsItselfButNoLargerTarget) {
  const Target host = host_target(2);
  EXPECT_EQ(host.threads(), 2);
  EXPECT_EQ(host.cpu()->features, host_features());
  EXPECT_TRUE(check_runs_here(host).has_value());
  EXPECT_EQ(parse_target(print_target(host)), host);
  for (int k = 0; k < kFeatureCount; ++k) {
    const Feature feature = static_cast<Feature>(k);
    const Status status = check_runs_here(make_target(FeatureSet().with(feature), 1));
    EXPECT_EQ(status.has_value(), host.has(feature)) << feature_text(feature);
    if (!status) {
      EXPECT_EQ(status.error().kind, ErrorKind::Unsupported);
    }
  }
}

}  // namespace
}  // namespace tilewright
