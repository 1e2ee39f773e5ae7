#include "cli/records_report.h"

#include <fmt/format.h>

#include <string>

#include "base/json.h"
#include "cli/records_common.h"

namespace tilewright::cli {

void print_import(const Context& context, std::string_view source,
                  const record::ImportReport& report) {
  std::string text =
      fmt::format("{}: {} lines: {} new attempts, {} new tasks, machines and others, {} known\n",
                  source, report.lines, report.attempts, report.others, report.known);
  const auto say = [&](int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("  {} {}\n", count, what);
  };
  say(report.arrived, "waiting attempts are complete now");
  say(report.waiting, "attempts are waiting for their task, machine or run");
  say(report.variants, "lines contradict a known key: both are kept");
  say(report.foreign, "lines are of another type or version: kept unchanged");
  say(report.malformed, "lines are malformed and were skipped:");
  Json named = name_lines(report.named, &text);
  print(context, text,
        {{"source", source},
         {"lines", report.lines},
         {"attempts", report.attempts},
         {"others", report.others},
         {"known", report.known},
         {"arrived", report.arrived},
         {"waiting", report.waiting},
         {"variants", report.variants},
         {"foreign", report.foreign},
         {"malformed", report.malformed},
         {"named", std::move(named)}});
}

}  // namespace tilewright::cli
