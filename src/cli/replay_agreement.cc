#include "cli/replay_agreement.h"

#include <fmt/format.h>

#include "cli/units.h"

namespace tilewright::cli {
namespace {

using record::Verdict;
using record::VerdictKind;

std::string verdict_text(const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::Timed:
      return duration_text(verdict.latency_ns);
    case VerdictKind::Censored:
      return "censored above " + duration_text(verdict.latency_ns);
    default:
      return std::string(text_of(verdict.kind)) +
             (verdict.text.empty() ? "" : " (" + verdict.text + ")");
  }
}

bool agree(const Verdict& written, const Verdict& now) {
  if (now.kind != VerdictKind::Timed) return written.kind == now.kind;
  if (written.kind == VerdictKind::Censored) {
    return now.latency_ns >= written.latency_ns * (1 - kReplayTolerance);
  }
  if (written.kind != VerdictKind::Timed) return false;
  return now.latency_ns >= written.latency_ns * (1 - kReplayTolerance) &&
         now.latency_ns <= written.latency_ns * (1 + kReplayTolerance);
}

}  // namespace

Agreement agreement_of(const Verdict& written, const Verdict& now) {
  Agreement out{.agrees = agree(written, now), .text = ""};
  out.text = fmt::format("written: {}; now: {}", verdict_text(written), verdict_text(now));
  if (written.kind == VerdictKind::Timed && now.kind == VerdictKind::Timed &&
      written.latency_ns > 0) {
    out.text += fmt::format(" ({:+.1f} %)", 100 * (now.latency_ns / written.latency_ns - 1));
  }
  return out;
}

bool may_be_noise(const Verdict& written, const Verdict& now) {
  if (now.kind == VerdictKind::Device) return true;
  return written.kind == VerdictKind::Timed && now.kind == VerdictKind::Timed &&
         now.latency_ns > written.latency_ns * (1 + kReplayTolerance);
}

}  // namespace tilewright::cli
