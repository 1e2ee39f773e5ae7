#include "target/host_features.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/abi/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tilewright {
namespace {

struct Detection {
  Feature feature;
  int word;
  int bit;
  uint64_t states;  // required in XCR0
};
#define DETECTION_ROW(feature, text, word, bit, states) {Feature::feature, word, bit, states},
constexpr Detection kDetections[] = {TILEWRIGHT_CPU_FEATURES(DETECTION_ROW)};
#undef DETECTION_ROW
constexpr Detection kTiles = *std::ranges::find(kDetections, Feature::AmxTile, &Detection::feature);
static_assert(kTiles.word == Cpu7Edx);

constexpr bool bit(uint32_t word, int position) { return ((word >> position) & 1u) != 0; }

#if defined(__x86_64__)

bool request_amx() {
  constexpr long kArchRequestXcompPermission = 0x1023;
  constexpr long kTileDataState = 18;
  return ::syscall(SYS_arch_prctl, kArchRequestXcompPermission, kTileDataState) == 0;
}

#endif

}  // namespace

// The closure of a set must not claim what CPUID denies, so a feature requires those that it
// implies, which come earlier.
FeatureSet decode_features(const CpuidAnswers& a) {
  const uint32_t words[CpuWords] = {a.leaf1_ecx, a.leaf7_ebx, a.leaf7_ecx, a.leaf7_edx,
                                    a.leaf7_1_eax};
  FeatureSet set;
  for (const Detection& row : kDetections) {
    const bool granted = row.states != CpuTiles || a.amx_granted;
    const bool present = bit(words[row.word], row.bit) && (a.xcr0 & row.states) == row.states;
    if (!present || !granted) continue;
    const FeatureSet with = set.with(row.feature);
    if (with.minus(set).list().size() == 1) set = with;
  }
  return set;
}

std::vector<std::string> missing_host_features(FeatureSet usable) {
  std::vector<std::string> missing;
  if (!usable.has(Feature::Avx2) || !usable.has(Feature::Fma)) {
    missing.emplace_back("AVX2 and FMA: kernels will use narrow vectors");
  }
  if (bit(ask_cpu().leaf7_edx, kTiles.bit) && !usable.has(Feature::AmxTile)) {
    missing.emplace_back(
        "AMX: the processor has it, the kernel does not grant it (Linux 5.16 or later does)");
  }
  return missing;
}

#if defined(__x86_64__)

CpuidAnswers ask_cpu() {
  uint32_t words[CpuWords];
  CpuidAnswers answers;
  cpu_ask(words, &answers.xcr0);
  answers.leaf1_ecx = words[Cpu1Ecx];
  answers.leaf7_ebx = words[Cpu7Ebx];
  answers.leaf7_ecx = words[Cpu7Ecx];
  answers.leaf7_edx = words[Cpu7Edx];
  answers.leaf7_1_eax = words[Cpu71Eax];
  if (bit(answers.leaf7_edx, kTiles.bit)) answers.amx_granted = request_amx();
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
