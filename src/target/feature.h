// FeatureSet: a set of the optional x86-64 instructions that generated code may use. One table
// (feature.cc) lists the name of each feature and the features it implies. A FeatureSet is always
// closed under implication, so equivalent sets compare equal. Values; safe to share between
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tilewright {

// Append-only: bit positions are not stored, but the order determines the printed text.
enum class Feature : uint8_t {
  Sse42,
  Avx,
  F16c,
  Fma,
  Avx2,
  AvxVnni,
  Avx512f,
  Avx512cd,
  Avx512bw,
  Avx512dq,
  Avx512vl,
  Avx512vbmi,
  Avx512vnni,
  Avx512bf16,
  Avx512fp16,
  AmxTile,
  AmxInt8,
  AmxBf16,
  AmxFp16,
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::AmxFp16) + 1;

class FeatureSet {
 public:
  constexpr FeatureSet() = default;  // plain x86-64: SSE2 and nothing more

  bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  bool empty() const { return bits_ == 0; }
  bool contains(FeatureSet other) const { return (other.bits_ & ~bits_) == 0; }

  FeatureSet with(Feature feature) const;     // also adds the features it implies
  FeatureSet without(Feature feature) const;  // also removes the features that imply it
  // For messages; the result may not be closed under implication.
  FeatureSet minus(FeatureSet other) const;

  std::vector<Feature> list() const;  // in the order of the enumeration
  std::string text() const;           // `sse4.2,avx,fma`; empty for the empty set

  bool operator==(const FeatureSet&) const = default;

 private:
  static constexpr uint64_t bit(Feature feature) { return 1ULL << static_cast<int>(feature); }

  uint64_t bits_ = 0;
};

std::string_view feature_text(Feature feature);  // `avx512vnni`
Result<Feature> parse_feature(std::string_view text);
Result<FeatureSet> parse_features(std::string_view comma_separated);

}  // namespace tilewright
