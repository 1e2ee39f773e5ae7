#include "record/ansor_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "record/ansor_steps.h"
#include "record/store_impl.h"
#include "schedule/apply.h"

namespace tilewright::record {
namespace {

constexpr int64_t kLineVersionAnsor = 1;

struct AnsorRecord {
  std::string workload;
  Json steps;
  double cost_s = 0;
  bool failed = false;
};

const Json* item(const Json* json, size_t at) {
  return json != nullptr && json->is_array() && at < json->size() ? &(*json)[at] : nullptr;
}

Result<AnsorRecord> parse_record(std::string_view line) {
  const Result<Json> json = parse_json(line);
  if (!json) return std::unexpected(json.error());
  const auto wrong = [](std::string_view what) {
    return fail(ErrorKind::BadInput, fmt::format("no record of Ansor's: {}", what));
  };
  const Json* const input = find_member(*json, "i");
  const Json* const result = find_member(*json, "r");
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
  AnsorRecord record;
  record.workload = workload->get<std::string>();
  record.steps = *steps;
  record.failed = error->get<int64_t>() != 0;
  for (const Json& cost : *costs) {
    if (!cost.is_number()) return wrong("a cost is no number");
    const auto seconds = cost.get<double>();
    if (record.cost_s == 0 || seconds < record.cost_s) record.cost_s = seconds;
  }
  return record;
}

// Fastest first, each trace once.
std::vector<AnsorTrace> in_order(std::vector<AnsorTrace> traces) {
  std::ranges::sort(traces, {}, [](const AnsorTrace& trace) {
    const double cost_s =
        trace.cost_s == 0 ? std::numeric_limits<double>::infinity() : trace.cost_s;
    return std::pair(cost_s, std::string_view(trace.trace));
  });
  std::set<std::string> seen;
  std::erase_if(traces, [&](const AnsorTrace& one) { return !seen.insert(one.trace).second; });
  return traces;
}

}  // namespace

Result<AnsorReport> import_ansor_log(Store& store, const Task& task,
                                     const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
  if (!initial) return std::unexpected(initial.error());

  AnsorReport report;
  std::set<std::string> reasons;
  std::vector<ForeignLine> lines;
  const std::string key = task.key().hex();
  int64_t number = 0;
  const auto refuse = [&](const std::string& why) {
    ++report.refused;
    if (report.named.size() < ImportReport::kMostNamed && reasons.insert(why).second) {
      report.named.push_back({number, why});
    }
  };
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    if (line.empty() || line[0] == '#' || line[0] == ' ' || line[0] == '\r') continue;
    ++report.records;
    const Result<AnsorRecord> record = parse_record(line);
    if (!record) {
      refuse(record.error().message);
      continue;
    }
    if (record->failed) {
      ++report.failed;
      continue;
    }
    const Result<schedule::Trace> trace = trace_of_ansor_steps(record->steps, *initial);
    if (!trace) {
      refuse(trace.error().message);
      continue;
    }
    AnsorTrace one{schedule::to_text(*trace), record->cost_s, record->workload};
    const Json object = {{"type", "ansor"},
                         {"v", kLineVersionAnsor},
                         {"task", key},
                         {"cost_s", one.cost_s},
                         {"workload", one.workload},
                         {"trace", one.trace},
                         {"record", parse_json(line).value_or(Json())}};
    lines.push_back({print_json(object)});
    report.traces.push_back(std::move(one));
  }
  const int64_t all = std::ssize(report.traces);
  report.traces = in_order(std::move(report.traces));
  report.converted = std::ssize(report.traces);
  report.again = all - report.converted;
  if (Status status = store.put_task(task); !status) return std::unexpected(status.error());
  Transaction transaction(*store.impl().database);
  for (const ForeignLine& line : lines) store.impl().add(line);
  if (Status status = transaction.commit(); !status) {
    store.impl().forget();
    return std::unexpected(status.error());
  }
  return report;
}

Result<std::vector<AnsorTrace>> ansor_traces(Store& store, Hash128 task) {
  std::vector<AnsorTrace> traces;
  Database& database = *store.impl().database;
  Statement lines(database,
                  "SELECT line FROM foreign_lines WHERE kind = 'unknown' AND line LIKE "
                  "'{\"type\":\"ansor\",%' ORDER BY key");
  while (lines.next()) {
    const Result<Json> json = parse_json(lines.text(0));
    if (!json) continue;
    const Result<std::string> of = member<std::string>(*json, "task");
    const Result<std::string> trace = member<std::string>(*json, "trace");
    const Result<double> cost = member<double>(*json, "cost_s");
    const Result<std::string> workload = member<std::string>(*json, "workload");
    if (!of || *of != task.hex() || !trace || !cost || !workload) continue;
    traces.push_back({*trace, *cost, *workload});
  }
  if (Status status = database.take_status(); !status) return std::unexpected(status.error());
  return in_order(std::move(traces));
}

std::string print_traces(const std::vector<AnsorTrace>& traces) {
  std::string text;
  for (const AnsorTrace& trace : traces) {
    if (!text.empty()) text += "---\n";
    text += fmt::format("# Ansor: {} s, {}\n", trace.cost_s, trace.workload);
    text += trace.trace;
  }
  return text;
}

}  // namespace tilewright::record
