// The features that this machine can execute: supported by the processor (CPUID), enabled by the
// operating system (XGETBV), and for AMX permitted by the kernel (arch_prctl). Detected once;
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/feature.h"

namespace tilewright {

// The features usable by this process. The first call requests permission for AMX tiles if the
// processor has them; the permission covers all threads and children.
FeatureSet host_features();

// Features that kernels would benefit from and `usable` lacks, with the consequence: one line each.
// Queries the processor to recognize features that the kernel withholds.
std::vector<std::string> missing_host_features(FeatureSet usable);

// Detection in two parts, so that the decoding can be tested with the CPUID values of any
// processor.
struct CpuidAnswers {
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t leaf7_ecx = 0;
  uint32_t leaf7_edx = 0;
  uint32_t leaf7_1_eax = 0;  // subleaf 1
  uint64_t xcr0 = 0;         // 0 if the operating system has not enabled XSAVE
  bool amx_granted = false;  // the kernel permits this process to use tile data
};
CpuidAnswers ask_cpu();
FeatureSet decode_features(const CpuidAnswers& answers);

std::string cpu_vendor();  // `GenuineIntel`, `AuthenticAMD`
std::string cpu_model();   // brand string, trimmed; empty if the processor has none

}  // namespace tilewright
