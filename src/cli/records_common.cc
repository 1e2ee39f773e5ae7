#include "cli/records_common.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "base/json.h"
#include "record/line.h"
#include "task/parse.h"

namespace tilewright::cli {

void declare_records_flag(CLI::App& app, std::string* path) {
  *path = kDefaultRecords;
  app.add_option("--records", *path, "the store of records (default: tilewright.db)");
}

void declare_read_records_flag(CLI::App& app, std::string* path) {
  *path = kDefaultRecords;
  app.add_option("--records", *path,
                 "the store of records (default: tilewright.db if there is one; none: do without)");
}

Status check_named_records(const CLI::App& app, const std::string& path) {
  std::error_code error;
  const bool named = app.count("--records") > 0 && path != kNoRecords;
  if (!named || std::filesystem::exists(path, error) || error) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("--records {}: there is no such file; `tilewright tune` makes one, and "
                          "--records none does without",
                          path));
}

Result<std::optional<record::Store>> open_records(const std::string& path) {
  if (path == kNoRecords) return std::nullopt;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::nullopt;
  Result<record::Store> store = record::Store::open(path, record::OpenAs::Reader);
  if (!store) return std::unexpected(store.error());
  return std::optional<record::Store>(*std::move(store));
}

Result<std::vector<record::StoredTask>> find_tasks(record::Store& store, std::string_view what) {
  const Result<std::vector<record::StoredTask>> all = store.tasks();
  if (!all) return std::unexpected(all.error());
  std::vector<record::StoredTask> found;
  const Result<Workload> workload = parse_workload(what);
  const Hash128 key = workload ? workload->key() : Hash128{};
  for (const record::StoredTask& task : *all) {
    if (task.text == what || (workload && task.workload == key)) found.push_back(task);
  }
  if (found.empty() && !what.empty()) {
    std::ranges::copy_if(*all, std::back_inserter(found), [&](const record::StoredTask& task) {
      return task.key.hex().starts_with(what);
    });
  }
  if (!found.empty()) return found;
  if (workload) {
    return fail(ErrorKind::BadInput,
                fmt::format("there are no records of {}; `tilewright records ls` lists the tasks "
                            "that have some",
                            what));
  }
  return fail(ErrorKind::BadInput, fmt::format("no task's key begins with '{}', and {}", what,
                                               workload.error().message));
}

double flop_of(const record::StoredTask& task) {
  const Result<Task> made = record::task_of(task);
  return made ? made->workload.dag->flop() : 0;
}

std::string short_target(const record::StoredTask& task) {
  const size_t semicolon = task.target.find(';');
  return semicolon == std::string::npos ? task.target : task.target.substr(semicolon + 1);
}

std::string time_text(int64_t us) {
  const std::chrono::sys_time<std::chrono::seconds> time(std::chrono::seconds(us / 1'000'000));
  // Beyond the years that the calendar has, the number itself.
  constexpr int64_t kYear10000 = 253'402'300'800;
  if (us < 0 || us / 1'000'000 >= kYear10000) return fmt::format("{} us", us);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", time);
}

Json task_json(const record::StoredTask& task) {
  return {{"task", task.key.hex()},
          {"workload", task.workload.hex()},
          {"text", task.text},
          {"permissions", record::print_permissions(task.permissions)},
          {"target", task.target}};
}

Json attempt_json(const record::Attempt& attempt) {
  std::string line;
  record::print_attempt(attempt, &line);
  Result<Json> json = parse_json(line);
  if (!json) return {{"id", attempt.id().hex()}};
  json->erase("type");
  json->erase("v");
  return std::move(*json);
}

Json name_lines(std::span<const record::BadLine> lines, std::string* text) {
  Json named = Json::array();
  for (const record::BadLine& line : lines) {
    *text += fmt::format("    line {}: {}\n", line.number, line.why);
    named.push_back({{"line", line.number}, {"why", line.why}});
  }
  return named;
}

}  // namespace tilewright::cli
