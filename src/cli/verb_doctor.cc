// `tilewright doctor`: what this machine is, what it reaches at most, which back ends work, and
// what is missing with the command that gets it. Measures for about two seconds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/verb.h"
#include "codegen/back_ends/back_ends.h"
#include "runtime/host/peak.h"
#include "target/host_features.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::cli {
namespace {

struct Options {
  int threads = 0;       // 0: all the process may use
  double seconds = 0.3;  // a measurement
};

struct Limit {
  int threads = 1;
  runtime::FmaPeak fma;
  runtime::CopyBandwidth copy;
};

struct Health {
  const codegen::BackEnd* back_end = nullptr;
  Status status;
};

// Something this machine could have and has not.
struct Missing {
  std::string what;     // and why it matters
  std::string command;  // that gets it; empty when none can
};

struct Report {
  Machine machine;
  Target target;
  std::vector<Limit> limits;  // 1 thread, then all
  std::vector<Health> back_ends;
  std::vector<Missing> missing;
};

// --- what may be missing: one function a subject ---

std::optional<Missing> missing_huge_pages(const Machine&) {
  const char* const path = "/sys/kernel/mm/transparent_hugepage/enabled";
  const Result<std::string> mode = read_file(path);
  if (!mode || mode->find("[never]") == std::string::npos) return {};
  return Missing{"huge pages: large tensors cost more address translations",
                 fmt::format("echo madvise | sudo tee {}", path)};
}

std::optional<Missing> missing_steady_clock(const Machine& machine) {
  const Result<std::string> governor = read_file(
      fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", machine.cpus.front()));
  if (!governor || governor->starts_with("performance")) return {};
  return Missing{fmt::format("a steady clock: the governor is {}, timings will wander",
                             governor->substr(0, governor->find('\n'))),
                 "sudo cpupower frequency-set -g performance"};
}

std::vector<Missing> find_missing(const Machine& machine, const std::vector<Health>& back_ends) {
  std::vector<Missing> missing;
  for (std::string& what : missing_host_features(machine.features)) {
    missing.push_back({std::move(what), ""});
  }
  for (const auto subject : {missing_huge_pages, missing_steady_clock}) {
    if (std::optional<Missing> found = subject(machine)) missing.push_back(*std::move(found));
  }
  for (const Health& health : back_ends) {
    if (health.status) continue;
    missing.push_back(
        {fmt::format("back end {}: {}", health.back_end->name, health.status.error().message),
         std::string(health.back_end->remedy)});
  }
  return missing;
}

// --- the report ---

// Enough to leave every cache, and not so much as to trouble the machine.
int64_t copy_bytes(const Machine& machine) {
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  const int64_t beyond_caches = std::max(4 * machine.cache_bytes(3), 64 * kMebibyte);
  return std::min(beyond_caches, std::max(machine.memory_bytes / 8, kMebibyte));
}

Report examine(const Options& options, std::ostream& err) {
  Report report;
  report.machine = detect_machine();
  const int all =
      options.threads > 0 ? options.threads : static_cast<int>(report.machine.cpus.size());
  report.target = host_target(all);
  for (const int threads : all > 1 ? std::vector{1, all} : std::vector{1}) {
    err << fmt::format("measuring with {} thread{}...\n", threads, threads == 1 ? "" : "s");
    report.limits.push_back({.threads = threads,
                             .fma = runtime::measure_fma_peak(threads, options.seconds),
                             .copy = runtime::measure_copy_bandwidth(
                                 threads, copy_bytes(report.machine), options.seconds)});
  }
  for (const codegen::BackEnd& back_end : codegen::all_back_ends()) {
    report.back_ends.push_back({&back_end, codegen::probe(back_end)});
  }
  report.missing = find_missing(report.machine, report.back_ends);
  return report;
}

std::string size_text(int64_t bytes) {
  if (bytes >= int64_t{10} << 30) return fmt::format("{} GiB", bytes >> 30);
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{} KiB", bytes >> 10);
}

std::string to_text(const Report& report) {
  const Machine& machine = report.machine;
  std::string text = fmt::format("cpu         {} ({})\n", machine.model, machine.vendor);
  text += fmt::format("threads     {} on {} core{}\n", machine.cpus.size(), machine.cores,
                      machine.cores == 1 ? "" : "s");
  text += fmt::format("features    {}\n", machine.features.text());
  text += fmt::format("vectors     {} bits, {} registers\n", 8 * report.target.vector_bytes(),
                      report.target.vector_registers());
  for (const Cache& cache : machine.caches) {
    text += fmt::format("cache L{}    {}, shared by {}\n", cache.level, size_text(cache.size_bytes),
                        cache.shared_by);
  }
  text += fmt::format("memory      {}\n", size_text(machine.memory_bytes));
  for (const Limit& limit : report.limits) {
    text += fmt::format("peak        {:.1f} GFLOP/s f32 ({}), copy {:.1f} GB/s, with {} thread{}\n",
                        limit.fma.gflops, runtime::fma_instructions(), limit.copy.best(),
                        limit.threads, limit.threads == 1 ? "" : "s");
  }
  for (const Health& health : report.back_ends) {
    text += fmt::format("back end    {}: {} ({})\n", health.back_end->name,
                        health.status ? "works" : health.status.error().message,
                        health.back_end->purpose);
  }
  if (report.missing.empty()) text += "missing     nothing\n";
  for (const Missing& missing : report.missing) {
    text += fmt::format("missing     {}\n", missing.what);
    if (!missing.command.empty()) text += fmt::format("              {}\n", missing.command);
  }
  return text;
}

Json to_json(const Report& report) {
  Json limits = Json::array();
  for (const Limit& limit : report.limits) {
    limits.push_back({{"threads", limit.threads},
                      {"fma_gflops", limit.fma.gflops},
                      {"fma_instructions", runtime::fma_instructions()},
                      {"copy_gb_per_s", limit.copy.best()},
                      {"memcpy_gb_per_s", limit.copy.memcpy_gb_per_s},
                      {"vector_copy_gb_per_s", limit.copy.vector_gb_per_s}});
  }
  Json back_ends = Json::array();
  for (const Health& health : report.back_ends) {
    back_ends.push_back({{"name", health.back_end->name},
                         {"works", health.status.has_value()},
                         {"reason", health.status ? "" : health.status.error().message}});
  }
  Json missing = Json::array();
  for (const Missing& item : report.missing) {
    missing.push_back({{"what", item.what}, {"command", item.command}});
  }
  return {{"machine", machine_to_json(report.machine)},
          {"target", print_target(report.target)},
          {"limits", std::move(limits)},
          {"back_ends", std::move(back_ends)},
          {"missing", std::move(missing)}};
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--threads", options->threads, "threads to measure with (default: all)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--seconds", options->seconds, "time for each measurement")
      ->check(number_between(0, 60))
      ->capture_default_str();
  return [options](const Context& context) -> Result<ExitCode> {
    try {
      const Report report = examine(*options, context.err);
      print(context, to_text(report), to_json(report));
      return ExitCode::Done;
    } catch (const std::runtime_error& error) {  // not an InternalError: the machine said no
      return fail(ErrorKind::Unsupported, fmt::format("cannot measure: {}", error.what()));
    }
  };
}

}  // namespace tilewright::cli
