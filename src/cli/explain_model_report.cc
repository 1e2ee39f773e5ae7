#include "cli/explain_model_report.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

std::string rates_text(const app::MachineRates& rates) {
  std::string text =
      fmt::format("ceilings: {:.1f} GFLOP/s; GB/s when read (copied):", rates.gflops);
  std::string_view separator = " ";
  for (const app::LevelRate& level : rates.levels) {
    text += fmt::format("{}{} {:.1f} ({:.1f})", separator, level.name, level.read_gb_per_s,
                        level.copy_gb_per_s);
    separator = ", ";
  }
  return text + "\n";
}

std::string kernel_text(const app::ExplainedKernel& kernel, const app::ExplainedModel& model) {
  const app::KernelLoss& loss = kernel.loss;
  std::string text = fmt::format("{:>10}  {:>10}  {:>5.1f} %  {:>6.1f} %  {:<6}  {:>5}  {}\n",
                                 duration_text(loss.lost_ns()), duration_text(loss.ns),
                                 100 * model.share_of(kernel), 100 * loss.of_limit(),
                                 loss.limit.what, loss.calls, loss.title);
  for (const app::Remedy remedy : kernel.remedies) {
    text += fmt::format("{:12}{}\n", "", advice_on(remedy, kernel, model.threads));
    if (remedy != app::Remedy::Loops) continue;
    for (const std::string& limit : kernel.records.limits) {
      text += fmt::format("{:14}{}\n", "", limit);
    }
  }
  return text;
}

// What the figures do not say.
std::string remarks_text(const app::ExplainedModel& model) {
  std::string text;
  if (model.threads != model.compiled_threads) {
    text += fmt::format("It was compiled for {} and ran on {}.\n",
                        counted(model.compiled_threads, "thread"), model.threads);
  }
  if (model.beyond > 0) {
    text += fmt::format(
        "{} took clearly less time than the limit: this machine ran other processes while its "
        "ceilings were measured (repeat the command when none are running), or the types are not "
        "f32.\n",
        counted(model.beyond, "kernel"));
  }
  return text;
}

Json json_of(const app::ExplainedKernel& kernel) {
  const app::KernelLoss& loss = kernel.loss;
  Json remedies = Json::array();
  for (const app::Remedy remedy : kernel.remedies) remedies.push_back(text_of(remedy));
  Json json = {{"kernel", loss.title},
               {"task", kernel.task.hex()},
               {"calls", loss.calls},
               {"ns", loss.ns},
               {"limit_ns", loss.limit_ns()},
               {"lost_ns", loss.lost_ns()},
               {"of_limit", loss.of_limit()},
               {"limit", loss.limit.what},
               {"tuned_ns", kernel.tuned_ns},
               {"trials", kernel.records.trials},
               {"remedies", std::move(remedies)},
               {"limits", kernel.records.limits}};
  if (kernel.records.attempt) json["attempt"] = kernel.records.attempt->hex();
  return json;
}

}  // namespace

std::string_view text_of(app::Remedy remedy) {
  switch (remedy) {
    case app::Remedy::NothingKnown:
      return "nothing_known";
    case app::Remedy::FewerBytes:
      return "fewer_bytes";
    case app::Remedy::FewerFlop:
      return "fewer_flop";
    case app::Remedy::FewerThreads:
      return "fewer_threads";
    case app::Remedy::Fuse:
      return "fuse";
    case app::Remedy::Tune:
      return "tune";
    case app::Remedy::Compile:
      return "compile";
    case app::Remedy::TuneLonger:
      return "tune_longer";
    case app::Remedy::SlowerThanTuned:
      return "slower_than_tuned";
    case app::Remedy::Loops:
      return "loops";
  }
  return "";
}

std::string advice_on(app::Remedy remedy, const app::ExplainedKernel& kernel, int threads) {
  const app::KernelLoss& loss = kernel.loss;
  switch (remedy) {
    case app::Remedy::NothingKnown:
      return "Its schedule is not in the records: with those (--records FILE), its loops are "
             "explained.";
    case app::Remedy::FewerBytes:
      return fmt::format(
          "It is at the bandwidth of {}. Only fewer bytes would help: fusion with a neighbor, or "
          "smaller elements.",
          loss.limit.what);
    case app::Remedy::FewerFlop:
      return "It is at the FMA peak. Only less arithmetic would help.";
    case app::Remedy::FewerThreads:
      return fmt::format(
          "A call takes {}: the start of {} threads is a large part of it. Fewer threads "
          "(`tilewright compile --threads N`) or fusion with a neighbor may help.",
          duration_text(loss.call_ns()), threads);
    case app::Remedy::Fuse:
      return "It is elementwise: fusion with the kernel before or after it would save its memory "
             "traffic. `tilewright graph` shows its neighbors.";
    case app::Remedy::Tune:
      return "It has its default schedule: `tilewright tune` the model, and compile it again.";
    case app::Remedy::Compile:
      return fmt::format(
          "It has its default schedule, but the records have {} of it: compile the model "
          "again.",
          counted(kernel.records.trials, "trial"));
    case app::Remedy::TuneLonger:
      return fmt::format("The records have only {} of it: tune the model longer.",
                         counted(kernel.records.trials, "trial"));
    case app::Remedy::SlowerThanTuned:
      return fmt::format(
          "A call takes {:.2f} times as long as when it was tuned ({}): other kernels evict its "
          "operands, the inputs differ, or this machine is busy or differs from the one that tuned "
          "it.",
          kernel.slowdown(), duration_text(kernel.tuned_ns));
    case app::Remedy::Loops:
      return fmt::format("`tilewright explain {}` prints its loops:",
                         short_id(*kernel.records.attempt));
  }
  return "";
}

std::string explained_model_text(const app::ExplainedModel& model) {
  std::string text = fmt::format("{:>10}  {:>10}  {:>7}  {:>8}  {:<6}  {:>5}  {}\n", "lost", "time",
                                 "share", "of limit", "limit", "calls", "kernel");
  for (const app::ExplainedKernel& kernel : model.kernels) text += kernel_text(kernel, model);
  text += fmt::format("{:>10}  lost in {} of {}, {} in all\n", duration_text(model.listed_ns()),
                      model.kernels.size(), counted(model.kernel_count, "kernel"),
                      duration_text(model.lost_ns));
  text += rates_text(model.rates);
  text += fmt::format(
      "{} on {}: a run takes {}, its kernels {}, their limits {}: {:.1f} % of the limit\n",
      model.name, counted(model.threads, "thread"), duration_text(model.run_ns),
      duration_text(model.kernels_ns), duration_text(model.limit_ns), 100 * model.of_limit());
  return text + remarks_text(model);
}

std::vector<Json> explained_model_json(const app::ExplainedModel& model) {
  Json levels = Json::array();
  for (const app::LevelRate& level : model.rates.levels) {
    levels.push_back({{"level", level.name},
                      {"read_gb_per_s", level.read_gb_per_s},
                      {"copy_gb_per_s", level.copy_gb_per_s}});
  }
  std::vector<Json> lines;
  lines.push_back({{"model", model.name},
                   {"threads", model.threads},
                   {"compiled_threads", model.compiled_threads},
                   {"run_ns", model.run_ns},
                   {"kernels_ns", model.kernels_ns},
                   {"limit_ns", model.limit_ns},
                   {"lost_ns", model.lost_ns},
                   {"of_limit", model.of_limit()},
                   {"kernels", model.kernel_count},
                   {"beyond_limit", model.beyond},
                   {"gflops", model.rates.gflops},
                   {"levels", std::move(levels)}});
  for (const app::ExplainedKernel& kernel : model.kernels) lines.push_back(json_of(kernel));
  return lines;
}

}  // namespace tilewright::cli
