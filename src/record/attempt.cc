#include "record/attempt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>

namespace tilewright::record {
namespace {

constexpr std::array<std::string_view, kVerdictKinds> kTexts = {
    "timed",         "censored", "illegal",     "lower",        "build",
    "build_timeout", "crash",    "run_timeout", "wrong_result", "device"};

}  // namespace

std::string_view text_of(VerdictKind kind) { return kTexts[static_cast<size_t>(kind)]; }

Result<VerdictKind> parse_verdict_kind(std::string_view text) {
  for (size_t k = 0; k < kTexts.size(); ++k) {
    if (kTexts[k] == text) return static_cast<VerdictKind>(k);
  }
  return fail(ErrorKind::BadInput, fmt::format("there is no verdict '{}'; verdicts are {}", text,
                                               fmt::join(kTexts, ", ")));
}

Hash128 Attempt::id() const {
  Hasher hasher;
  const auto add_hash = [&](const Hash128& hash) { hasher.add(hash.high).add(hash.low); };
  const auto add_number = [&](double number) { hasher.add(std::bit_cast<uint64_t>(number)); };
  add_hash(run);
  hasher.add_signed(sequence);
  add_hash(task);
  add_hash(program);
  hasher.add_text(trace);
  add_hash(machine);
  hasher.add_text(print_protocol(protocol));
  hasher.add_signed(code_generator).add_signed(start_us).add_signed(end_us);
  hasher.add_text(text_of(verdict.kind));
  add_number(verdict.latency_ns);
  hasher.add(verdict.samples_ns.size());
  for (const double sample : verdict.samples_ns) add_number(sample);
  hasher.add_text(verdict.text);
  for (const double number : {conditions.build_ns, conditions.check_ns, conditions.time_ns,
                              conditions.clock, conditions.load}) {
    add_number(number);
  }
  hasher.add_signed(conditions.disturbed).add_text(extra);
  return hasher.finish();
}

}  // namespace tilewright::record
