#include "cli/records_common.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "base/json.h"

namespace tilewright::cli {

void declare_records_flag(CLI::App& app, std::string* path) {
  *path = app::kDefaultRecords;
  app.add_option("--records", *path, "the store of records (default: tilewright.db)");
}

void declare_read_records_flag(CLI::App& app, std::string* path) {
  *path = app::kDefaultRecords;
  app.add_option("--records", *path,
                 "the store of records, or `none` (default: tilewright.db if it exists)");
}

Status check_named_records(const CLI::App& app, const std::string& path) {
  if (path == app::kNoRecords) return {};
  TRY(app::check_store_path(path));
  std::error_code error;
  if (app.count("--records") == 0 || std::filesystem::exists(path, error) || error) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("--records {}: there is no such file; `tilewright tune` creates one, and "
                          "--records none uses no store",
                          path));
}

std::string short_target(const record::StoredTask& task) {
  const size_t semicolon = task.target.find(';');
  return semicolon == std::string::npos ? task.target : task.target.substr(semicolon + 1);
}

std::string time_text(int64_t us) {
  const std::chrono::sys_time<std::chrono::seconds> time(std::chrono::seconds(us / 1'000'000));
  // Out of the range of the calendar: the number itself.
  constexpr int64_t kYear10000 = 253'402'300'800;
  if (us < 0 || us / 1'000'000 >= kYear10000) return fmt::format("{} us", us);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", time);
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
