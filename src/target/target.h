// Target: what code is made for. The instruction set it may use, the vectors it is written with
// and the threads it runs on; nothing about caches or clocks, which belong to Machine. Together
// with a workload it keys records, so equal targets have equal texts and the other way round.
//
//   x86-64:sse4.2,avx,fma,avx2;threads=2
//   x86-64-v4;threads=2;vector_bits=256      v2, v3 and v4 are short for the feature lists
//
// A value; share freely between threads.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "target/feature.h"

namespace tilewright {

struct Target {
  FeatureSet features;
  int vector_bits = 128;  // of one vector register: 128, 256 or 512; at most what features allow
  int threads = 1;        // at least 1

  bool has(Feature feature) const { return features.has(feature); }

  // How many elements of that size fill a vector register: lanes(4) is 16 with 512 bits.
  int lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
  // AVX-512 doubles the architectural vector registers, whatever width is used.
  int vector_registers() const { return has(Feature::Avx512f) ? 32 : 16; }
  // A target-features string of LLVM, to be used with the CPU name `x86-64`.
  std::string llvm_cpu_features() const { return features.llvm_text(); }

  bool operator==(const Target&) const = default;
};

// The widest vectors of a feature set: 512 with AVX-512, 256 with AVX, else 128.
int widest_vector_bits(FeatureSet features);

// A target with the widest vectors of `features`.
Target make_target(FeatureSet features, int threads);

// Everything this machine can execute, in the widest vectors it has.
Target host_target(int threads);

// An error that names what is missing when this machine cannot execute code made for `target`.
Status check_runs_here(const Target& target);

std::string print_target(const Target& target);      // canonical: `x86-64:...;threads=2`
Result<Target> parse_target(std::string_view text);  // also the short forms
Json target_to_json(const Target& target);           // {"features": [...], "threads": 2, ...}
Result<Target> target_from_json(const Json& json);

}  // namespace tilewright
