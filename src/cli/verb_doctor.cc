// `tilewright doctor`: app::examine_machine with flags and a table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "app/doctor.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

class DoctorPrinter : public app::DoctorListener {
 public:
  explicit DoctorPrinter(std::ostream& err) : err_(err) {}
  void on_measuring(int threads) override {
    err_ << fmt::format("measuring with {}...\n", counted(threads, "thread"));
  }

 private:
  std::ostream& err_;
};

std::string size_text(int64_t bytes) {
  if (bytes >= int64_t{10} << 30) return fmt::format("{} GiB", bytes >> 30);
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{} KiB", bytes >> 10);
}

std::string to_text(const app::MachineReport& report) {
  const Machine& machine = report.machine;
  std::string text = fmt::format("cpu         {} ({})\n", machine.model, machine.vendor);
  text +=
      fmt::format("threads     {} on {}\n", machine.cpus.size(), counted(machine.cores, "core"));
  text += fmt::format("features    {}\n", machine.features.text());
  text += fmt::format("vectors     {} bits, {} registers\n", 8 * report.target.vector_bytes(),
                      report.target.vector_registers());
  for (const Cache& cache : machine.caches) {
    text += fmt::format("cache L{}    {}, shared by {}\n", cache.level, size_text(cache.size_bytes),
                        cache.shared_by);
  }
  text += fmt::format("memory      {}\n", size_text(machine.memory_bytes));
  for (const app::MachineLimit& limit : report.limits) {
    text += fmt::format("peak        {:.1f} GFLOP/s f32 ({}), copy {:.1f} GB/s, with {}\n",
                        limit.fma.gflops, report.fma_instructions, limit.copy.best(),
                        counted(limit.threads, "thread"));
  }
  for (const app::BackEndHealth& health : report.back_ends) {
    text += fmt::format("back end    {}: {} ({})\n", health.back_end->name,
                        health.status ? "works" : health.status.error().message,
                        health.back_end->purpose);
  }
  if (report.missing.empty()) text += "missing     nothing\n";
  for (const app::MissingPart& missing : report.missing) {
    text += fmt::format("missing     {}\n", missing.what);
    if (!missing.command.empty()) text += fmt::format("              {}\n", missing.command);
  }
  return text;
}

Json to_json(const app::MachineReport& report) {
  Json limits = Json::array();
  for (const app::MachineLimit& limit : report.limits) {
    limits.push_back({{"threads", limit.threads},
                      {"fma_gflops", limit.fma.gflops},
                      {"fma_instructions", report.fma_instructions},
                      {"copy_gb_per_s", limit.copy.best()},
                      {"memcpy_gb_per_s", limit.copy.memcpy_gb_per_s},
                      {"vector_copy_gb_per_s", limit.copy.vector_gb_per_s}});
  }
  Json back_ends = Json::array();
  for (const app::BackEndHealth& health : report.back_ends) {
    back_ends.push_back({{"name", health.back_end->name},
                         {"works", health.status.has_value()},
                         {"reason", health.status ? "" : health.status.error().message}});
  }
  Json missing = Json::array();
  for (const app::MissingPart& item : report.missing) {
    missing.push_back({{"what", item.what}, {"command", item.command}});
  }
  return {{"machine", machine_json(report)},
          {"target", report.target_text},
          {"limits", std::move(limits)},
          {"back_ends", std::move(back_ends)},
          {"missing", std::move(missing)}};
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<app::DoctorOptions>();
  app.add_option("--threads", options->threads, "threads to measure with (default: all)")
      ->check(whole_number_between(1, kMaxThreads));
  app.add_option("--seconds", options->seconds, "time for each measurement")
      ->check(number_between(0, 60))
      ->capture_default_str();
  return [options](const Context& context) -> Result<ExitCode> {
    DoctorPrinter printer(context.err);
    const Interrupt interrupt;
    const app::MachineReport report =
        TRY(app::examine_machine(*options, printer, interrupt.token()));
    if (report.stopped) return interrupted(context, "the report is not complete");
    print(context, to_text(report), to_json(report));
    return ExitCode::Done;
  };
}

}  // namespace tilewright::cli
