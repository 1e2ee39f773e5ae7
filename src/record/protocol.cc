#include "record/protocol.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tilewright::record {
namespace {

constexpr std::array<std::string_view, 4> kPolicies = {"warm", "cold", "weights_cold", "in_model"};
constexpr std::string_view kBackEnd = ";back_end=";

}  // namespace

std::string_view text_of(CachePolicy policy) { return kPolicies[static_cast<size_t>(policy)]; }

Result<CachePolicy> parse_cache_policy(std::string_view text) {
  for (size_t k = 0; k < kPolicies.size(); ++k) {
    if (kPolicies[k] == text) return static_cast<CachePolicy>(k);
  }
  return fail(ErrorKind::BadInput,
              fmt::format("there is no cache policy '{}'; it is warm, cold or weights_cold", text));
}

Result<CachePolicy> parse_own_cache_policy(std::string_view text) {
  if (text == text_of(CachePolicy::InModel)) {
    return fail(ErrorKind::BadInput,
                "in_model is not of a kernel by itself; the policy is warm, cold or weights_cold");
  }
  return parse_cache_policy(text);
}

std::string print_protocol(const Protocol& protocol) {
  return fmt::format("v{};{}{}{}{}", protocol.version, text_of(protocol.cache),
                     protocol.interleaved ? ";interleaved" : "",
                     protocol.back_end.empty() ? "" : kBackEnd, protocol.back_end);
}

Result<Protocol> parse_protocol(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorKind::BadInput,
                fmt::format("'{}' is not a protocol; write v1;warm or v1;cold;interleaved", text));
  };
  Protocol protocol;
  const size_t first = text.find(';');
  if (!text.starts_with('v') || first == std::string_view::npos) return wrong();
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + first, protocol.version);
  if (error != std::errc() || end != text.data() + first) return wrong();
  std::string_view rest = text.substr(first + 1);
  if (const size_t name = rest.find(kBackEnd); name != std::string_view::npos) {
    protocol.back_end = rest.substr(name + kBackEnd.size());
    if (protocol.back_end.empty() || protocol.back_end.contains(';')) return wrong();
    rest = rest.substr(0, name);
  }
  const size_t second = rest.find(';');
  if (second != std::string_view::npos) {
    if (rest.substr(second + 1) != "interleaved") return wrong();
    protocol.interleaved = true;
    rest = rest.substr(0, second);
  }
  const Result<CachePolicy> cache = parse_cache_policy(rest);
  if (!cache) return wrong();
  protocol.cache = *cache;
  if (print_protocol(protocol) != text) return wrong();
  return protocol;
}

}  // namespace tilewright::record
