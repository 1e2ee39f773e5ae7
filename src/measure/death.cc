#include "measure/death.h"

#include <fmt/format.h>

#include <csignal>

namespace tilewright::measure {
namespace {

using record::VerdictKind;

std::string where(const WorkerEvent& event, std::string_view what) {
  const std::string phase = phase_text(event.status);
  return phase.empty() ? "" : fmt::format("; {}: {}", what, phase);
}

std::string said(const WorkerEvent& event) {
  return event.stderr_tail.empty() ? "" : fmt::format("; it said: {}", event.stderr_tail);
}

}  // namespace

bool was_killed_externally(const WorkerEvent& event) {
  return event.died && !event.late && event.signal == SIGKILL;
}

BuildReply reply_of_death(const WorkerEvent& event, double timeout_s) {
  BuildReply reply;
  reply.failure = VerdictKind::Build;
  const std::string pass = where(event, "last pass");
  if (event.late) {
    reply.failure = VerdictKind::BuildTimeout;
    reply.text = fmt::format("the compiler did not answer in time and was killed{}", pass);
  } else if (event.signal == SIGPROF) {
    reply.failure = VerdictKind::BuildTimeout;
    reply.text = fmt::format("the compiler took more than {:g} s of CPU time{}{}", timeout_s, pass,
                             said(event));
    reply.cpu_ns = timeout_s * 1e9;
  } else {
    reply.text = fmt::format("the compiler was {}{}{}", event.end, pass, said(event));
  }
  return reply;
}

RunOutcome outcome_of_death(const WorkerEvent& event, const RunRequest& request) {
  RunOutcome outcome;
  record::Verdict& verdict = outcome.verdict;
  const std::string phase = where(event, "phase");
  const std::string detail = detail_text(event.status);
  if (event.late) {  // the timer of the worker would have ended a kernel
    verdict.kind = VerdictKind::Device;
    verdict.text = fmt::format("the run worker did not answer in time and was killed{}", phase);
  } else if (event.status.timed_out != 0) {
    const bool passed = phase_text(event.status) == "time";
    verdict.kind = VerdictKind::RunTimeout;
    verdict.text = fmt::format("{} took more than {:.4g} ms{}",
                               passed ? "the first run was correct, but a later one" : "a run",
                               request.timeout_ns * 1e-6, phase);
  } else {
    verdict.kind = VerdictKind::Crash;
    verdict.text = fmt::format("the kernel's process was {}{}{}{}{}", event.end,
                               detail.empty() ? "" : ": ", detail, phase, said(event));
  }
  return outcome;
}

}  // namespace tilewright::measure
