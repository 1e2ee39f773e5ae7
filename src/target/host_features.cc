#include "target/host_features.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tilewright {
namespace {

// Bits of XCR0, the register states that the operating system saves.
constexpr uint64_t kStateSse = 1u << 1;
constexpr uint64_t kStateAvx = 1u << 2;
constexpr uint64_t kStateAvx512 = 0b111u << 5;  // masks, upper halves, registers 16 to 31
constexpr int kTileBit = 24;                    // of leaf 7, edx
constexpr uint64_t kStateTiles = 0b11u << 17;   // tile configuration and tile data

constexpr bool bit(uint32_t word, int position) { return ((word >> position) & 1u) != 0; }

#if defined(__x86_64__)

uint64_t read_xcr0() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool request_amx() {
  constexpr long kArchRequestXcompPermission = 0x1023;
  constexpr long kTileDataState = 18;
  return ::syscall(SYS_arch_prctl, kArchRequestXcompPermission, kTileDataState) == 0;
}

#endif

}  // namespace

FeatureSet decode_features(const CpuidAnswers& a) {
  FeatureSet set;
  const auto add = [&set](bool present, Feature feature) {
    if (present) set = set.with(feature);
  };
  add(bit(a.leaf1_ecx, 20), Feature::Sse42);

  constexpr uint64_t kYmm = kStateSse | kStateAvx;
  if (!bit(a.leaf1_ecx, 28) || (a.xcr0 & kYmm) != kYmm) return set;
  add(true, Feature::Avx);
  const bool fma = bit(a.leaf1_ecx, 12);
  const bool f16c = bit(a.leaf1_ecx, 29);
  const bool avx2 = bit(a.leaf7_ebx, 5);
  add(fma, Feature::Fma);
  add(f16c, Feature::F16c);
  add(avx2, Feature::Avx2);
  add(avx2 && bit(a.leaf7_1_eax, 4), Feature::AvxVnni);

  // The closure of a set must not claim what CPUID denies, so each row waits for what it implies.
  const bool zmm = (a.xcr0 & kStateAvx512) == kStateAvx512;
  if (zmm && bit(a.leaf7_ebx, 16) && fma && avx2 && f16c) {
    const bool bw = bit(a.leaf7_ebx, 30);
    const bool vl = bit(a.leaf7_ebx, 31);
    add(true, Feature::Avx512f);
    add(bit(a.leaf7_ebx, 28), Feature::Avx512cd);
    add(bw, Feature::Avx512bw);
    add(bit(a.leaf7_ebx, 17), Feature::Avx512dq);
    add(vl, Feature::Avx512vl);
    add(bw && bit(a.leaf7_ecx, 1), Feature::Avx512vbmi);
    add(bit(a.leaf7_ecx, 11), Feature::Avx512vnni);
    add(bw && bit(a.leaf7_1_eax, 5), Feature::Avx512bf16);
    add(bw && vl && bit(a.leaf7_edx, 23), Feature::Avx512fp16);
  }

  const bool tiles = (a.xcr0 & kStateTiles) == kStateTiles && a.amx_granted;
  if (tiles && bit(a.leaf7_edx, kTileBit)) {
    add(true, Feature::AmxTile);
    add(bit(a.leaf7_edx, 25), Feature::AmxInt8);
    add(bit(a.leaf7_edx, 22), Feature::AmxBf16);
    add(bit(a.leaf7_1_eax, 21), Feature::AmxFp16);
  }
  return set;
}

std::vector<std::string> missing_host_features(FeatureSet usable) {
  std::vector<std::string> missing;
  if (!usable.has(Feature::Avx2) || !usable.has(Feature::Fma)) {
    missing.emplace_back("AVX2 and FMA: kernels will use narrow vectors");
  }
  if (bit(ask_cpu().leaf7_edx, kTileBit) && !usable.has(Feature::AmxTile)) {
    missing.emplace_back(
        "AMX: the processor has it, the kernel does not grant it (Linux 5.16 or later does)");
  }
  return missing;
}

#if defined(__x86_64__)

CpuidAnswers ask_cpu() {
  CpuidAnswers answers;
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    answers.leaf1_ecx = ecx;
    if (bit(ecx, 27)) answers.xcr0 = read_xcr0();
  }
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    const uint32_t last_subleaf = eax;
    answers.leaf7_ebx = ebx;
    answers.leaf7_ecx = ecx;
    answers.leaf7_edx = edx;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) {
      answers.leaf7_1_eax = eax;
    }
  }
  if (bit(answers.leaf7_edx, kTileBit)) answers.amx_granted = request_amx();
  return answers;
}

std::string cpu_vendor() {
  uint32_t eax = 0;
  std::array<uint32_t, 3> words = {};
  if (__get_cpuid(0, &eax, &words[0], &words[2], &words[1]) == 0) return "";
  std::string text(sizeof words, '\0');
  std::memcpy(text.data(), words.data(), sizeof words);
  return text;
}

std::string cpu_model() {
  std::string text;
  for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    std::array<uint32_t, 4> words = {};
    if (__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]) == 0) return "";
    char bytes[sizeof words];
    std::memcpy(bytes, words.data(), sizeof words);
    text.append(bytes, sizeof bytes);
  }
  text.resize(text.find_last_not_of(std::string("\0 ", 2)) + 1);
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

#else

CpuidAnswers ask_cpu() { return {}; }
std::string cpu_vendor() { return ""; }
std::string cpu_model() { return ""; }

#endif

FeatureSet host_features() {
  static const FeatureSet features = decode_features(ask_cpu());
  return features;
}

}  // namespace tilewright
