#include "app/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/file.h"
#include "base/json.h"
#include "target/host_features.h"

namespace tilewright::app {
namespace {

// --- missing parts: one function per subject ---

std::optional<MissingPart> missing_huge_pages(const Machine&) {
  const char* const path = "/sys/kernel/mm/transparent_hugepage/enabled";
  const Result<std::string> mode = read_file(path);
  if (!mode || mode->find("[never]") == std::string::npos) return {};
  return MissingPart{"huge pages: large tensors cost more address translations",
                     fmt::format("echo madvise | sudo tee {}", path)};
}

std::optional<MissingPart> missing_steady_clock(const Machine& machine) {
  const Result<std::string> governor = read_file(
      fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", machine.cpus.front()));
  if (!governor || governor->starts_with("performance")) return {};
  return MissingPart{fmt::format("a steady clock: the governor is {}, so timings will vary",
                                 governor->substr(0, governor->find('\n'))),
                     "sudo cpupower frequency-set -g performance"};
}

std::vector<MissingPart> find_missing(const Machine& machine,
                                      const std::vector<BackEndHealth>& back_ends) {
  std::vector<MissingPart> missing;
  for (std::string& what : missing_host_features(machine.features)) {
    missing.push_back({std::move(what), ""});
  }
  for (const auto subject : {missing_huge_pages, missing_steady_clock}) {
    if (std::optional<MissingPart> found = subject(machine)) missing.push_back(*std::move(found));
  }
  for (const BackEndHealth& health : back_ends) {
    if (health.status) continue;
    // An error of the operating system has its remedy in its message.
    const bool is_installed = health.status.error().kind == ErrorKind::Io;
    missing.push_back(
        {fmt::format("back end {}: {}", health.back_end->name, health.status.error().message),
         is_installed ? "" : std::string(health.back_end->remedy)});
  }
  return missing;
}

// --- the report ---

// Larger than every cache, but small enough for any machine.
int64_t copy_bytes(const Machine& machine) {
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  const int64_t beyond_caches = std::max(4 * machine.cache_bytes(3), 64 * kMebibyte);
  return std::min(beyond_caches, std::max(machine.memory_bytes / 8, kMebibyte));
}

MachineReport examine(const DoctorOptions& options, DoctorListener& listener,
                      const StopToken& stop) {
  MachineReport report;
  report.machine = detect_machine();
  report.fma_instructions = runtime::fma_instructions();
  const int all =
      options.threads > 0 ? options.threads : static_cast<int>(report.machine.cpus.size());
  report.target = host_target(all);
  report.target_text = print_target(report.target);
  for (const int threads : all > 1 ? std::vector{1, all} : std::vector{1}) {
    if (stop.requested()) break;
    listener.on_measuring(threads);
    report.limits.push_back({.threads = threads,
                             .fma = runtime::measure_fma_peak(threads, options.seconds, stop),
                             .copy = runtime::measure_copy_bandwidth(
                                 threads, copy_bytes(report.machine), options.seconds, stop)});
  }
  for (const codegen::BackEnd& back_end : options.tables.back_ends) {
    if (stop.requested()) break;
    report.back_ends.push_back({&back_end, codegen::probe(back_end)});
  }
  report.missing = find_missing(report.machine, report.back_ends);
  report.stopped = stop.requested();
  return report;
}

}  // namespace

Json machine_json(const MachineReport& report) { return machine_to_json(report.machine); }

Result<MachineReport> examine_machine(const DoctorOptions& options, DoctorListener& listener,
                                      const StopToken& stop) {
  try {
    return examine(options, listener, stop);
  } catch (const std::runtime_error& error) {  // not an InternalError: the system refused
    return fail(ErrorKind::Unsupported, fmt::format("cannot measure: {}", error.what()));
  }
}

}  // namespace tilewright::app
