#include "target/feature.h"

#include <fmt/format.h>

#include <array>

#include "base/inline_vector.h"

namespace tilewright {
namespace {

using enum Feature;

struct Row {
  Feature feature;
  std::string_view text;
  InlineVector<Feature, 3> implies;  // directly
};

constexpr std::array<Row, kFeatureCount> kRows = {{
    {Sse42, "sse4.2", {}},
    {Avx, "avx", {Sse42}},
    {F16c, "f16c", {Avx}},
    {Fma, "fma", {Avx}},
    {Avx2, "avx2", {Avx}},
    {AvxVnni, "avxvnni", {Avx2}},
    {Avx512f, "avx512f", {Avx2, Fma, F16c}},
    {Avx512cd, "avx512cd", {Avx512f}},
    {Avx512bw, "avx512bw", {Avx512f}},
    {Avx512dq, "avx512dq", {Avx512f}},
    {Avx512vl, "avx512vl", {Avx512f}},
    {Avx512vbmi, "avx512vbmi", {Avx512bw}},
    {Avx512vnni, "avx512vnni", {Avx512f}},
    {Avx512bf16, "avx512bf16", {Avx512bw}},
    {Avx512fp16, "avx512fp16", {Avx512bw, Avx512vl}},
    {AmxTile, "amx_tile", {}},
    {AmxInt8, "amx_int8", {AmxTile}},
    {AmxBf16, "amx_bf16", {AmxTile}},
    {AmxFp16, "amx_fp16", {AmxTile}},
}};

// Row k describes the feature numbered k, and what it implies stands above it: so one pass
// downwards or upwards closes a set.
constexpr bool rows_are_ordered() {
  for (size_t k = 0; k < kRows.size(); ++k) {
    if (static_cast<size_t>(kRows[k].feature) != k) return false;
    for (Feature implied : kRows[k].implies) {
      if (static_cast<size_t>(implied) >= k) return false;
    }
  }
  return true;
}
static_assert(rows_are_ordered());

const Row& row(Feature feature) { return kRows[static_cast<size_t>(feature)]; }

}  // namespace

FeatureSet FeatureSet::with(Feature feature) const {
  FeatureSet result = *this;
  result.bits_ |= bit(feature);
  for (size_t k = kRows.size(); k-- > 0;) {
    if (!result.has(kRows[k].feature)) continue;
    for (Feature implied : kRows[k].implies) result.bits_ |= bit(implied);
  }
  return result;
}

FeatureSet FeatureSet::without(Feature feature) const {
  FeatureSet result = *this;
  result.bits_ &= ~bit(feature);
  for (const Row& candidate : kRows) {
    for (Feature implied : candidate.implies) {
      if (!result.has(implied)) result.bits_ &= ~bit(candidate.feature);
    }
  }
  return result;
}

FeatureSet FeatureSet::minus(FeatureSet other) const {
  FeatureSet result;
  result.bits_ = bits_ & ~other.bits_;
  return result;
}

std::vector<Feature> FeatureSet::list() const {
  std::vector<Feature> features;
  for (const Row& candidate : kRows) {
    if (has(candidate.feature)) features.push_back(candidate.feature);
  }
  return features;
}

std::string FeatureSet::text() const {
  std::string text;
  for (Feature feature : list()) {
    if (!text.empty()) text += ',';
    text += row(feature).text;
  }
  return text;
}

std::string_view feature_text(Feature feature) { return row(feature).text; }

Result<Feature> parse_feature(std::string_view text) {
  std::string known;
  for (const Row& candidate : kRows) {
    if (candidate.text == text) return candidate.feature;
    known += known.empty() ? "" : ", ";
    known += candidate.text;
  }
  return fail(ErrorKind::BadInput,
              fmt::format("'{}' is no CPU feature; known are {}", text, known));
}

Result<FeatureSet> parse_features(std::string_view comma_separated) {
  FeatureSet features;
  while (!comma_separated.empty()) {
    const size_t comma = comma_separated.find(',');
    features = features.with(TRY(parse_feature(comma_separated.substr(0, comma))));
    if (comma == std::string_view::npos) break;
    comma_separated.remove_prefix(comma + 1);
    if (comma_separated.empty())
      return fail(ErrorKind::BadInput, "a CPU feature is missing after ','");
  }
  return features;
}

}  // namespace tilewright
