#include "target/target.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/json.h"
#include "target/host_features.h"

namespace tilewright {
namespace {

constexpr int kMaxThreads = 4096;

struct Level {
  std::string_view text;
  std::string_view features;
};

// The levels of the x86-64 ABI, as far as they concern us; the longest name first.
constexpr std::array<Level, 4> kLevels = {{
    {"x86-64-v4", "avx512f,avx512cd,avx512bw,avx512dq,avx512vl"},
    {"x86-64-v3", "avx2,fma,f16c"},
    {"x86-64-v2", "sse4.2"},
    {"x86-64", ""},
}};

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::BadInput, std::move(message));
}

// What parsing has in common, whether from text or JSON.
Result<Target> validated(Target target) {
  if (target.threads < 1 || target.threads > kMaxThreads) {
    return bad(fmt::format("a target has 1 to {} threads, not {}", kMaxThreads, target.threads));
  }
  const int widest = widest_vector_bits(target.features);
  const int bits = target.vector_bits;
  if (bits != 128 && bits != 256 && bits != 512) {
    return bad(fmt::format("vector_bits is 128, 256 or 512, not {}", bits));
  }
  if (bits > widest) {
    return bad(fmt::format("vector_bits={} needs {}; these features allow {}", bits,
                           bits == 512 ? "avx512f" : "avx", widest));
  }
  return target;
}

Result<int> parse_number(std::string_view key, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad(fmt::format("target: {} is a number, not '{}'", key, text));
  }
  return value;
}

// `x86-64:avx2,fma` or `x86-64-v3`, or both: `x86-64-v3:avxvnni`.
Result<FeatureSet> parse_architecture(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const Level& level : kLevels) {
    if (level.text != name) continue;
    std::string list(level.features);
    if (colon != std::string_view::npos && colon + 1 < text.size()) {
      if (!list.empty()) list += ',';
      list += text.substr(colon + 1);
    }
    return parse_features(list);
  }
  return bad(fmt::format(
      "target '{}' is unknown; it begins with x86-64, x86-64-v2, x86-64-v3 or x86-64-v4", name));
}

}  // namespace

int widest_vector_bits(FeatureSet features) {
  if (features.has(Feature::Avx512f)) return 512;
  return features.has(Feature::Avx) ? 256 : 128;
}

Target make_target(FeatureSet features, int threads) {
  return {.features = features, .vector_bits = widest_vector_bits(features), .threads = threads};
}

Target host_target(int threads) { return make_target(host_features(), threads); }

Status check_runs_here(const Target& target) {
  const FeatureSet missing = target.features.minus(host_features());
  if (missing.empty()) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("this machine cannot execute {}, which the target {} uses",
                          missing.text(), print_target(target)));
}

std::string print_target(const Target& target) {
  std::string text = "x86-64";
  if (!target.features.empty()) text += ":" + target.features.text();
  text += fmt::format(";threads={}", target.threads);
  if (target.vector_bits != widest_vector_bits(target.features)) {
    text += fmt::format(";vector_bits={}", target.vector_bits);
  }
  return text;
}

Result<Target> parse_target(std::string_view text) {
  const size_t architecture_end = std::min(text.find(';'), text.size());
  const Result<FeatureSet> features = parse_architecture(text.substr(0, architecture_end));
  if (!features) return std::unexpected(features.error());
  Target target = make_target(*features, 1);

  text.remove_prefix(architecture_end);
  while (!text.empty()) {
    text.remove_prefix(1);  // the semicolon
    const std::string_view field = text.substr(0, text.find(';'));
    text.remove_prefix(field.size());
    const size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    if (equals == std::string_view::npos || (key != "threads" && key != "vector_bits")) {
      return bad(
          fmt::format("target: '{}' is unknown; known are threads=N and vector_bits=N", field));
    }
    const Result<int> value = parse_number(key, field.substr(equals + 1));
    if (!value) return std::unexpected(value.error());
    (key == "threads" ? target.threads : target.vector_bits) = *value;
  }
  return validated(target);
}

Json target_to_json(const Target& target) {
  Json features = Json::array();
  for (Feature feature : target.features.list()) features.push_back(feature_text(feature));
  return {{"arch", "x86-64"},
          {"features", std::move(features)},
          {"vector_bits", target.vector_bits},
          {"threads", target.threads}};
}

Result<Target> target_from_json(const Json& json) {
  const Result<std::string> arch = member<std::string>(json, "arch");
  if (!arch) return std::unexpected(arch.error());
  if (*arch != "x86-64") return bad(fmt::format("target: arch '{}' is unknown", *arch));

  const Json* list = find_member(json, "features");
  if (list == nullptr || !list->is_array()) return bad("target: features is a list of names");
  FeatureSet features;
  for (const Json& item : *list) {
    if (!item.is_string()) return bad("target: features is a list of names");
    const Result<Feature> feature = parse_feature(item.get_ref<const std::string&>());
    if (!feature) return std::unexpected(feature.error());
    features = features.with(*feature);
  }

  const Result<int64_t> bits = member<int64_t>(json, "vector_bits");
  if (!bits) return std::unexpected(bits.error());
  const Result<int64_t> threads = member<int64_t>(json, "threads");
  if (!threads) return std::unexpected(threads.error());
  if (*bits != static_cast<int>(*bits) || *threads != static_cast<int>(*threads)) {
    return bad("target: a number is out of range");
  }
  return validated({.features = features,
                    .vector_bits = static_cast<int>(*bits),
                    .threads = static_cast<int>(*threads)});
}

}  // namespace tilewright
