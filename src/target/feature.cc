#include "target/feature.h"

#include <fmt/format.h>

#include <array>
#include <ranges>

#include "base/inline_vector.h"
#include "runtime/abi/cpu_features.h"

namespace tilewright {
namespace {

using enum Feature;

struct Row {
  Feature feature;
  std::string_view text;
};

#define FEATURE_ROW(feature, text, word, bit, states) {feature, text},
constexpr std::array<Row, kFeatureCount> kRows = {{TILEWRIGHT_CPU_FEATURES(FEATURE_ROW)}};
#undef FEATURE_ROW

// The features that each implies directly; features without a row imply nothing.
struct Implication {
  Feature feature;
  InlineVector<Feature, 3> implied;
};
constexpr Implication kImplications[] = {
    {Avx, {Sse42}},
    {F16c, {Avx}},
    {Fma, {Avx}},
    {Avx2, {Avx}},
    {AvxVnni, {Avx2}},
    {Avx512f, {Avx2, Fma, F16c}},
    {Avx512cd, {Avx512f}},
    {Avx512bw, {Avx512f}},
    {Avx512dq, {Avx512f}},
    {Avx512vl, {Avx512f}},
    {Avx512vbmi, {Avx512bw}},
    {Avx512vnni, {Avx512f}},
    {Avx512bf16, {Avx512bw}},
    {Avx512fp16, {Avx512bw, Avx512vl}},
    {AmxInt8, {AmxTile}},
    {AmxBf16, {AmxTile}},
    {AmxFp16, {AmxTile}},
};

// Row k describes feature k, and implied features come earlier, so one pass over the table closes a
// set.
constexpr bool rows_are_ordered() {
  for (size_t k = 0; k < kRows.size(); ++k) {
    if (static_cast<size_t>(kRows[k].feature) != k) return false;
  }
  size_t last = 0;
  for (const Implication& row : kImplications) {
    if (static_cast<size_t>(row.feature) < last) return false;
    last = static_cast<size_t>(row.feature);
    for (Feature implied : row.implied) {
      if (static_cast<size_t>(implied) >= last) return false;
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
  for (const Implication& row : std::views::reverse(kImplications)) {
    if (!result.has(row.feature)) continue;
    for (Feature implied : row.implied) result.bits_ |= bit(implied);
  }
  return result;
}

FeatureSet FeatureSet::without(Feature feature) const {
  FeatureSet result = *this;
  result.bits_ &= ~bit(feature);
  for (const Implication& row : kImplications) {
    for (Feature implied : row.implied) {
      if (!result.has(implied)) result.bits_ &= ~bit(row.feature);
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
              fmt::format("'{}' is not a CPU feature; known: {}", text, known));
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
