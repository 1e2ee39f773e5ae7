#include "cli/records_report.h"

#include <fmt/format.h>

#include <string>

#include "base/counted.h"
#include "base/json.h"
#include "cli/records_common.h"

namespace tilewright::cli {

void print_import(const Context& context, std::string_view source,
                  const record::ImportReport& report) {
  std::string text =
      fmt::format("{}: {}: {}, {} new tasks, machines and others, {} known\n", source,
                  counted(report.lines, "line"), counted(report.attempts, "new attempt"),
                  report.others, report.known);
  const auto say = [&](int64_t count, std::string_view noun, std::string_view what) {
    if (count > 0) text += fmt::format("  {} {}\n", counted(count, noun), what);
  };
  say(report.arrived, "waiting attempt", "now complete");
  say(report.waiting, "attempt", "without their task, machine or run: kept until those arrive");
  say(report.variants, "line", "with another content for a known key: both are kept");
  say(report.foreign, "line", "of another type or version: kept unchanged");
  say(report.malformed, "line", "malformed and skipped:");
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
