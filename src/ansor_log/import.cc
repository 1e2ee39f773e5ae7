#include "ansor_log/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "ansor_log/steps.h"
#include "base/file.h"
#include "base/json.h"
#include "schedule/apply.h"

namespace tilewright::ansor_log {
namespace {

constexpr int64_t kLineVersion = 1;

struct LogRecord {
  std::string workload;
  Json steps;
  double cost_s = 0;
  bool failed = false;
};

const Json* item(const Json* json, size_t at) {
  return json != nullptr && json->is_array() && at < json->size() ? &(*json)[at] : nullptr;
}

Result<LogRecord> parse_record(std::string_view line) {
  const Json json = TRY(parse_json(line));
  const auto wrong = [](std::string_view what) {
    return fail(ErrorKind::BadInput, fmt::format("not a record of Ansor: {}", what));
  };
  const Json* const input = find_member(json, "i");
  const Json* const result = find_member(json, "r");
  if (input == nullptr || result == nullptr)
    return wrong("an object with \"i\" and \"r\" belongs here");
  const Json* const workload = item(item(input, 0), 0);
  const Json* const steps = item(item(input, 1), 1);
  const Json* const costs = item(result, 0);
  const Json* const error = item(result, 1);
  if (workload == nullptr || !workload->is_string()) return wrong("its workload key is missing");
  if (steps == nullptr || !steps->is_array()) return wrong("its steps are missing");
  if (costs == nullptr || !costs->is_array() || error == nullptr || !error->is_number_integer()) {
    return wrong("its costs are missing");
  }
  LogRecord record;
  record.workload = workload->get<std::string>();
  record.steps = *steps;
  record.failed = error->get<int64_t>() != 0;
  for (const Json& cost : *costs) {
    if (!cost.is_number()) return wrong("a cost is not a number");
    const auto seconds = cost.get<double>();
    if (record.cost_s == 0 || seconds < record.cost_s) record.cost_s = seconds;
  }
  return record;
}

// Fastest first, each trace once.
std::vector<LoggedTrace> in_order(std::vector<LoggedTrace> traces) {
  std::ranges::sort(traces, {}, [](const LoggedTrace& trace) {
    const double cost_s =
        trace.cost_s == 0 ? std::numeric_limits<double>::infinity() : trace.cost_s;
    return std::pair(cost_s, std::string_view(trace.trace));
  });
  std::set<std::string> seen;
  std::erase_if(traces, [&](const LoggedTrace& one) { return !seen.insert(one.trace).second; });
  return traces;
}

}  // namespace

Result<ImportReport> import_log(const record::OpenStore& open, const Task& task,
                                const std::filesystem::path& path) {
  const std::string text = TRY(read_file(path));
  const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload));

  ImportReport report;
  std::set<std::string> reasons;
  std::vector<std::string> lines;
  const std::string key = task.key().hex();
  int64_t number = 0;
  const auto refuse = [&](const std::string& why) {
    ++report.refused;
    if (report.named.size() < record::ImportReport::kMaxNamed && reasons.insert(why).second) {
      report.named.push_back({number, why});
    }
  };
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    if (line.empty() || line[0] == '#' || line[0] == ' ' || line[0] == '\r') continue;
    ++report.records;
    const Result<LogRecord> record = parse_record(line);
    if (!record) {
      refuse(record.error().message);
      continue;
    }
    if (record->failed) {
      ++report.failed;
      continue;
    }
    const Result<schedule::Trace> trace = trace_of_steps(record->steps, initial);
    if (!trace) {
      refuse(trace.error().message);
      continue;
    }
    LoggedTrace one{schedule::to_text(*trace), record->cost_s, record->workload};
    const Json object = {{"type", "ansor"},
                         {"v", kLineVersion},
                         {"task", key},
                         {"cost_s", one.cost_s},
                         {"workload", one.workload},
                         {"trace", one.trace},
                         {"record", parse_json(line).value_or(Json())}};
    lines.push_back(print_json(object));
    report.traces.push_back(std::move(one));
  }
  const int64_t all = std::ssize(report.traces);
  report.traces = in_order(std::move(report.traces));
  report.converted = std::ssize(report.traces);
  report.again = all - report.converted;
  if (lines.empty()) return report;
  record::Store& store = *TRY(open());
  TRY(store.put_task(task));
  TRY(store.put_foreign_lines(lines));
  return report;
}

Result<std::vector<LoggedTrace>> imported_traces(record::Store& store, Hash128 task) {
  std::vector<LoggedTrace> traces;
  for (const std::string& line : TRY(store.foreign_lines("ansor"))) {
    const Result<Json> json = parse_json(line);
    if (!json) continue;
    const Result<std::string> of = member<std::string>(*json, "task");
    const Result<std::string> trace = member<std::string>(*json, "trace");
    const Result<double> cost = member<double>(*json, "cost_s");
    const Result<std::string> workload = member<std::string>(*json, "workload");
    if (!of || *of != task.hex() || !trace || !cost || !workload) continue;
    traces.push_back({*trace, *cost, *workload});
  }
  return in_order(std::move(traces));
}

std::string print_traces(const std::vector<LoggedTrace>& traces) {
  std::string text;
  for (const LoggedTrace& trace : traces) {
    if (!text.empty()) text += "---\n";
    text += fmt::format("# Ansor: {} s, {}\n", trace.cost_s, trace.workload);
    text += trace.trace;
  }
  return text;
}

}  // namespace tilewright::ansor_log
