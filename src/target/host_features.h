// What this machine can really execute: the processor has it (CPUID), the operating system saves
// its registers (XGETBV), and for AMX the kernel grants the process its tile state (arch_prctl).
// Detected once; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/feature.h"

namespace tilewright {

// The features of this process on this machine. The first call asks the kernel for permission to
// use AMX tiles where the processor has them; the permission holds for all threads and children.
FeatureSet host_features();

// What kernels would profit from and `usable` lacks, with what it costs: one line each. Asks the
// processor, to tell what the kernel withholds.
std::vector<std::string> missing_host_features(FeatureSet usable);

// The same in two halves, so that the decoding can be tested with any processor's answers.
struct CpuidAnswers {
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t leaf7_ecx = 0;
  uint32_t leaf7_edx = 0;
  uint32_t leaf7_1_eax = 0;  // subleaf 1
  uint64_t xcr0 = 0;         // 0 when the operating system has not enabled XSAVE
  bool amx_granted = false;  // the kernel lets this process use tile data
};
CpuidAnswers ask_cpu();
FeatureSet decode_features(const CpuidAnswers& answers);

std::string cpu_vendor();  // `GenuineIntel`, `AuthenticAMD`
std::string cpu_model();   // the brand string, trimmed; empty when the processor has none

}  // namespace tilewright
