#include "record/store.h"

#include <fmt/format.h>

#include "base/json.h"
#include "record/parse_line.h"
#include "record/row_number.h"
#include "record/store_impl.h"
#include "task/parse.h"

namespace tilewright::record {
Hash128 machine_id(const Machine& machine) {
  return Hasher().add_text(print_json(machine_to_json(machine))).finish();
}

StoredTask stored_form(const Task& task) {
  return {.key = task.key(),
          .workload = task.workload.key(),
          .text = task.workload.text,
          .permissions = task.workload.permissions,
          .target = print_target(task.target)};
}

Result<Task> task_of(const StoredTask& stored) {
  Workload workload = TRY(parse_workload(stored.text, stored.permissions));
  Target target = TRY(parse_target(stored.target));
  Task task{.workload = std::move(workload), .target = target};
  if (task.key() != stored.key) {
    return fail(ErrorKind::BadInput,
                fmt::format("task {} of the records is not what '{}' means to this program "
                            "({}): the operator's definition differs",
                            stored.key.hex(), stored.text, task.key().hex()));
  }
  return task;
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, OpenAs how) {
  std::unique_ptr<Database> database = TRY(open_schema(path, how));
  auto impl = std::make_unique<Impl>();
  impl->database = std::move(database);
  return Store(std::move(impl));
}

namespace {

// Runs `body` in a transaction; cached row numbers are dropped if it is rolled back.
template <class Body>
Status in_transaction(Store::Impl& impl, const Body& body) {
  Transaction transaction(*impl.database);
  body();
  Status status = transaction.commit();
  if (!status) impl.forget();
  return status;
}

}  // namespace

Status Store::put_task(const Task& task) {
  return in_transaction(*impl_, [&] { impl_->add(TaskLine{stored_form(task), ""}); });
}

Status Store::put_machine(const Machine& machine) {
  const MachineLine line{machine_id(machine), print_json(machine_to_json(machine))};
  return in_transaction(*impl_, [&] { impl_->add(line); });
}

Status Store::put_run(const Run& run) {
  return in_transaction(*impl_, [&] { impl_->add(RunLine{run, ""}); });
}

Status Store::put_run(const Run& run, Hash128 trajectory, const CompletedBudget& completed) {
  return in_transaction(*impl_, [&] {
    impl_->add(RunLine{run, ""});
    impl_->add(
        TrajectoryLine{.key = trajectory, .run = run.id, .completed = completed, .extra = {}});
  });
}

Status Store::append(std::span<const Attempt> attempts) {
  for (const Attempt& attempt : attempts) {
    TRY(check_attempt(attempt));
    const bool known = impl_->task_row(attempt.task) && impl_->machine_row(attempt.machine) &&
                       impl_->run_row(attempt.run);
    TRY(impl_->database->take_status());
    if (!known) {
      return fail(ErrorKind::BadInput,
                  fmt::format("attempt {} is of a task, machine or run that was not put into {}",
                              attempt.id().hex(), impl_->database->path()));
    }
  }
  return in_transaction(*impl_, [&] {
    for (const Attempt& attempt : attempts) impl_->add(attempt);
  });
}

Status Store::put_foreign_lines(std::span<const std::string> lines) {
  return in_transaction(*impl_, [&] {
    for (const std::string& line : lines) impl_->add(ForeignLine{line});
  });
}

Result<std::vector<std::string>> Store::foreign_lines(std::string_view type) {
  const std::string begin = fmt::format("{{\"type\":\"{}\",", type);
  Statement& query = impl_->database
                         ->statement(
                             "SELECT line FROM foreign_lines WHERE kind = 'unknown' AND "
                             "substr(line, 1, length(?1)) = ?1 ORDER BY key")
                         .with(begin);
  std::vector<std::string> lines;
  while (query.next()) lines.emplace_back(query.text(0));
  TRY(impl_->database->take_status());
  return lines;
}

Result<int64_t> Store::version_of_others() {
  const int64_t version = impl_->database->integer("PRAGMA data_version");
  TRY(impl_->database->take_status());
  return version;
}

Result<std::optional<Attempt>> Store::find_attempt(Hash128 id) {
  Statement& query =
      impl_->database
          ->statement(TILEWRIGHT_SELECT_ATTEMPTS "WHERE a.id BETWEEN ? AND ? AND a.key = ?")
          .with(first_number(id), last_number(id), id);
  std::optional<Attempt> found;
  if (query.next()) {
    Result<Attempt> attempt = impl_->read_attempt(query);
    query.reset();
    if (!attempt) return std::unexpected(attempt.error());
    found = std::move(*attempt);
  }
  TRY(impl_->database->take_status());
  return found;
}

Result<std::optional<StoredTask>> Store::find_task(Hash128 key) {
  Statement& query =
      impl_->database
          ->statement(
              "SELECT t.key, t.workload, t.text, t.licences, g.text FROM tasks t JOIN "
              "targets g ON g.id = t.target WHERE t.key = ?")
          .with(key);
  std::optional<StoredTask> found;
  if (query.next()) found = Impl::read_task(query);
  query.reset();
  TRY(impl_->database->take_status());
  return found;
}

Result<std::optional<Machine>> Store::find_machine(Hash128 id) {
  Statement& query =
      impl_->database->statement("SELECT content FROM machines WHERE key = ?").with(id);
  std::optional<std::string> content;
  if (query.next()) content = query.text(0);
  query.reset();
  TRY(impl_->database->take_status());
  if (!content) return std::nullopt;
  const Json json = TRY(parse_json(*content));
  return TRY(machine_from_json(json));
}

Result<std::optional<Run>> Store::find_run(Hash128 id) {
  Statement& query =
      impl_->database->statement("SELECT start_us, command, version FROM runs WHERE key = ?")
          .with(id);
  std::optional<Run> found;
  if (query.next()) {
    found = Run{.id = id,
                .start_us = query.integer(0),
                .command = std::string(query.text(1)),
                .version = std::string(query.text(2))};
  }
  query.reset();
  TRY(impl_->database->take_status());
  return found;
}

Result<StoredTrajectory> Store::find_trajectory(Hash128 key) {
  Statement& query = impl_->database
                         ->statement(
                             "SELECT r.key, r.start_us, r.command, r.version, t.trials, t.seconds "
                             "FROM trajectories t JOIN runs r ON r.key = t.run WHERE t.key = ? "
                             "ORDER BY r.start_us, r.key")
                         .with(key);
  StoredTrajectory found;
  while (query.next()) {
    found.runs.push_back({.id = query.hash(0),
                          .start_us = query.integer(1),
                          .command = std::string(query.text(2)),
                          .version = std::string(query.text(3))});
    const CompletedBudget completed{.trials = query.integer(4), .seconds = query.real(5)};
    if (completed != CompletedBudget{}) found.completed.push_back(completed);
  }
  TRY(impl_->database->take_status());
  return found;
}

}  // namespace tilewright::record
