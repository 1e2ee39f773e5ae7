#include "record/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "record/database.h"
#include "record/record_testing.h"
#include "record/row_number.h"
#include "record/store_impl.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::HasSubstr;

const char* const kMatmul = "matmul:m=16,n=16,k=16";

TEST(Store, AppendedRowsAreVisibleToNewProcesses) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  const Attempt attempt = timed(task, 1);
  {
    Store store = store_with(folder / "a.db", task);
    must(store.append({&attempt, 1}));
    must(store.append({&attempt, 1}));  // again is no error
  }
  Store store = must(Store::open(folder / "a.db"));
  EXPECT_EQ(must(store.find_attempt(attempt.id())), attempt);
  EXPECT_EQ(must(store.find_attempt({1, 1})), std::nullopt);
  EXPECT_EQ(must(store.find_task(task.key())), stored_form(task));
  EXPECT_EQ(must(store.find_task({1, 1})), std::nullopt);
  EXPECT_EQ(must(store.find_machine(attempt.machine)), machine_named("one"));
  EXPECT_EQ(must(store.find_run({1, 2})), run_one());
}

TEST(Store, TrajectoryFindsItsRunsWithAnyCommand) {
  const ScratchFolder folder;
  Store store = must(Store::open(folder / "a.db"));
  const record::Run first = {.id = {1, 9}, .start_us = 5, .command = "tune x", .version = "1"};
  const record::Run second = {.id = {1, 8}, .start_us = 7, .command = "", .version = "2"};
  const record::Run other = {
      .id = {1, 7}, .start_us = 1, .command = "tune x (trajectory 5)", .version = "2"};
  must(store.put_run(second, {5, 5}, {.trials = 40, .seconds = 2.5}));
  must(store.put_run(other));
  must(store.put_run(first, {5, 5}));
  must(store.put_run(other, {5, 6}));
  must(store.put_run(first, {5, 5}));  // again is no error
  StoredTrajectory found = must(store.find_trajectory({5, 5}));
  EXPECT_EQ(found.runs, (std::vector<record::Run>{first, second}));
  EXPECT_EQ(found.completed, (std::vector<CompletedBudget>{{.trials = 40, .seconds = 2.5}}));
  EXPECT_EQ(must(store.find_trajectory({5, 6})).runs, (std::vector<record::Run>{other}));
  EXPECT_TRUE(must(store.find_trajectory({5, 7})).runs.empty());
}

TEST(Store, AttemptsRoundTrip) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  Rng rng(1);
  std::vector<Attempt> attempts;
  for (int k = 0; k < 300; ++k) attempts.push_back(odd_attempt(task, rng));
  must(store.append(attempts));
  for (const Attempt& attempt : attempts) {
    const auto found = must(store.find_attempt(attempt.id()));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, attempt);
    EXPECT_EQ(found->id(), attempt.id());
  }
}

TEST(Store, InvalidAttemptsAreRejected) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto changed = [&](auto change) {
    Attempt attempt = timed(task, 2);
    change(attempt);
    return attempt;
  };
  const std::pair<Attempt, std::string> cases[] = {
      {changed([&](Attempt& a) { a.verdict.latency_ns = infinity; }), "latency_ns"},
      {changed([&](Attempt& a) { a.verdict.latency_ns = -1; }), "latency_ns"},
      {changed([&](Attempt& a) { a.conditions.clock = -0.0; }), "clock"},
      {changed([&](Attempt& a) { a.verdict.samples_ns = {std::nan("")}; }), "samples_ns"},
      {changed([&](Attempt& a) { a.extra = "{"; }), "extra"},
      {changed([&](Attempt& a) { a.extra = "{\"b\":1,\"a\":2}"; }), "sorted"},
      {changed([&](Attempt& a) { a.extra = "{\"trace\":1}"; }), "trace"},
      {changed([&](Attempt& a) { a.task = {9, 9}; }), "was not put"},
      {changed([&](Attempt& a) { a.machine = {9, 9}; }), "was not put"},
      {changed([&](Attempt& a) { a.run = {9, 9}; }), "was not put"},
  };
  for (const auto& [attempt, says] : cases) {
    const Attempt both[] = {timed(task, 1), attempt};
    const Status status = store.append(both);
    ASSERT_FALSE(status.has_value()) << says;
    EXPECT_THAT(status.error().message, HasSubstr(says));
    EXPECT_EQ(must(store.find_attempt(both[0].id())), std::nullopt);
  }
}

TEST(Store, MeasuredGivesTheLatestVerdictPerProgram) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  must(store.put_machine(machine_named("two")));
  const auto with = [&](int64_t sequence, auto change) {
    Attempt attempt = timed(task, sequence);
    change(attempt);
    return attempt;
  };
  const Attempt first = timed(task, 1);
  const Attempt later = with(1, [](Attempt& a) {
    a.end_us += 100;
    a.verdict.kind = VerdictKind::Crash;
  });
  const Attempt failed = with(2, [](Attempt& a) { a.verdict.kind = VerdictKind::Device; });
  const Attempt illegal = with(3, [](Attempt& a) {
    a.verdict.kind = VerdictKind::Illegal;
    a.program = {};
  });
  const Attempt elsewhere =
      with(4, [](Attempt& a) { a.machine = machine_id(machine_named("two")); });
  const Attempt cold = with(5, [](Attempt& a) { a.protocol.cache = CachePolicy::Cold; });
  const Attempt older = with(6, [](Attempt& a) { a.code_generator = 2; });
  const Attempt other = timed(task, 7);
  must(store.append(std::vector{later, first, failed, illegal, elsewhere, cold, older, other}));
  const Setting setting{.task = task.key(),
                        .machine = first.machine,
                        .protocol = first.protocol,
                        .code_generator = 3};
  std::vector<Attempt> measured = must(store.measured(setting));
  std::ranges::sort(measured, {}, &Attempt::sequence);
  EXPECT_EQ(measured, (std::vector{later, illegal, other}));
  Setting unknown = setting;
  unknown.task = {5, 5};
  EXPECT_TRUE(must(store.measured(unknown)).empty());
}

TEST(Store, BestPrefersTheProtocolAndListsAProgramOnce) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  must(store.put_machine(machine_named("two")));
  std::vector<Attempt> attempts;
  for (int k = 0; k < 10; ++k) attempts.push_back(timed(task, k, 1000 - k));
  attempts.push_back(timed(task, 9, 5));  // the same program, faster
  attempts.push_back(timed(task, 20, 1));
  attempts.back().protocol.cache = CachePolicy::Cold;
  attempts.push_back(timed(task, 21, 2));
  attempts.back().machine = machine_id(machine_named("two"));
  attempts.push_back(timed(task, 22, 0.5));
  attempts.back().verdict.kind = VerdictKind::Censored;
  must(store.append(attempts));
  const auto latencies = [&](const Protocol& protocol, size_t limit,
                             std::optional<Hash128> on = {}) {
    std::vector<double> found;
    for (const Attempt& attempt : must(store.best(task.key(), protocol, limit, on))) {
      found.push_back(attempt.verdict.latency_ns);
    }
    return found;
  };
  const Protocol warm;
  const Protocol cold{.version = 1, .cache = CachePolicy::Cold, .interleaved = false};
  const Protocol none{.version = 9, .cache = CachePolicy::Cold, .interleaved = false};
  EXPECT_EQ(latencies(warm, 3), (std::vector<double>{2, 5, 992}));
  EXPECT_EQ(latencies(warm, 3, attempts[0].machine), (std::vector<double>{5, 992, 993}));
  EXPECT_EQ(latencies(cold, 3), (std::vector<double>{1}));
  EXPECT_EQ(latencies(none, 3), (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(latencies(none, 2, machine_id(machine_named("two"))), (std::vector<double>{2}));
  EXPECT_EQ(latencies(warm, 100).size(), 11u);
  EXPECT_TRUE(latencies(warm, 0).empty());
  EXPECT_TRUE(latencies(warm, 3, Hash128{9, 9}).empty());
  EXPECT_TRUE(must(store.best({9, 9}, warm, 3)).empty());
}

TEST(Store, BestOfABackEndIsNeverOfAnother) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const auto put = [&](int64_t sequence, double latency_ns, const std::string& back_end) {
    Attempt attempt = timed(task, sequence, latency_ns);
    attempt.protocol.back_end = back_end;
    must(store.append({&attempt, 1}));
  };
  const auto latencies = [&](const Protocol& protocol) {
    std::vector<double> found;
    for (const Attempt& attempt : must(store.best(task.key(), protocol, 5))) {
      found.push_back(attempt.verdict.latency_ns);
    }
    return found;
  };
  EXPECT_TRUE(must(store.back_ends(task.key())).empty());
  put(1, 200, "d");
  put(2, 300, "c");
  EXPECT_TRUE(latencies({}).empty());
  EXPECT_EQ(must(store.summaries())[0].best_ns, 300);
  EXPECT_EQ(must(store.summaries())[0].best_protocol.back_end, "c");
  put(3, 400, "");
  EXPECT_EQ(latencies({}), (std::vector<double>{400}));
  EXPECT_EQ(latencies({.cache = CachePolicy::Cold}), (std::vector<double>{400}));
  EXPECT_EQ(latencies({.cache = CachePolicy::Cold, .back_end = "c"}), (std::vector<double>{300}));
  EXPECT_EQ(must(store.summaries())[0].best_ns, 400);
  EXPECT_EQ(must(store.back_ends(task.key())), (std::vector<std::string>{"", "c", "d"}));
  EXPECT_TRUE(must(store.back_ends({9, 9})).empty());
}

TEST(Store, LastFinalsAreOfTheLastRunWithFinals) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  must(store.put_machine(machine_named("two")));
  for (const uint64_t run : {10U, 11U}) {
    must(store.put_run({.id = {run, run}, .start_us = 1, .command = "", .version = ""}));
  }
  const Protocol interleaved_protocol{
      .version = 1, .cache = CachePolicy::Warm, .interleaved = true};
  std::vector<Attempt> attempts;
  const auto put = [&](int64_t sequence, double latency_ns, uint64_t run, bool interleaved = true) {
    attempts.push_back(timed(task, sequence, latency_ns));
    attempts.back().run = {run, run};
    attempts.back().protocol.interleaved = interleaved;
    attempts.back().end_us += 10 * static_cast<int64_t>(run) + std::ssize(attempts);
  };
  put(1, 90, 10);  // in a quiet moment
  put(2, 80, 10);
  put(1, 110, 11);
  put(3, 100, 11);
  put(4, 120, 11);
  attempts.back().verdict.kind = VerdictKind::Crash;
  put(5, 70, 11);
  attempts.back().verdict.kind = VerdictKind::Device;
  put(2, 60, 11, false);
  put(2, 65, 11, false);
  put(6, 50, 10);
  attempts.back().end_us += 1000;
  attempts.back().machine = machine_id(machine_named("two"));
  must(store.append(attempts));
  const auto latencies = [&](std::optional<Hash128> on) {
    std::vector<double> found;
    for (const Attempt& attempt : must(store.last_finals(task.key(), interleaved_protocol, on))) {
      found.push_back(attempt.verdict.latency_ns);
    }
    return found;
  };
  EXPECT_EQ(latencies(attempts[0].machine), (std::vector<double>{100, 110}));
  EXPECT_EQ(latencies({}), (std::vector<double>{50}));
  EXPECT_TRUE(latencies(Hash128{9, 9}).empty());
  EXPECT_TRUE(must(store.last_finals({9, 9}, interleaved_protocol)).empty());

  const auto fastest = [&](const Attempt& of, const Protocol& protocol) {
    return must(store.fastest_ns(task.key(), of.program, protocol, attempts[0].machine));
  };
  EXPECT_EQ(fastest(attempts[1], Protocol()), 60);
  EXPECT_EQ(fastest(attempts[1], interleaved_protocol), 80);
  EXPECT_FALSE(fastest(attempts[0], Protocol()));
}

TEST(Store, PrefixesAndSummaries) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  EXPECT_EQ(must(store.attempts_beginning("", 10)).size(), 0u);
  std::vector<Attempt> attempts;
  for (int k = 0; k < 50; ++k) attempts.push_back(timed(task, k, 1000 - k));
  attempts[7].verdict.kind = VerdictKind::Crash;
  must(store.append(attempts));
  const std::string hex = attempts[7].id().hex();
  EXPECT_EQ(must(store.attempts_beginning(hex, 10)), std::vector{attempts[7].id()});
  EXPECT_EQ(must(store.attempts_beginning(hex.substr(0, 12), 10)), std::vector{attempts[7].id()});
  EXPECT_EQ(must(store.attempts_beginning("", 10)).size(), 10u);
  EXPECT_EQ(must(store.attempts_beginning("xyz", 10)).size(), 0u);
  EXPECT_EQ(must(store.attempts_beginning(hex + "0", 10)).size(), 0u);
  EXPECT_EQ(must(store.tasks_beginning(task.key().hex().substr(0, 6), 10)),
            std::vector{task.key()});
  const std::vector<TaskSummary> summaries = must(store.summaries());
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].task, stored_form(task));
  EXPECT_EQ(summaries[0].count(VerdictKind::Timed), 49);
  EXPECT_EQ(summaries[0].count(VerdictKind::Crash), 1);
  EXPECT_EQ(summaries[0].all(), 50);
  EXPECT_EQ(summaries[0].failed(), 1);
  EXPECT_EQ(summaries[0].best_ns, 951);
  int seen = 0;
  must(store.for_each_attempt(task.key(), [&](const Attempt& attempt) {
    EXPECT_EQ(attempt.sequence, seen);
    return ++seen < 5;
  }));
  EXPECT_EQ(seen, 5);
}

TEST(Store, TasksRoundTrip) {
  FloatPermissions strict;
  strict.reassociate = false;
  const Task task{.workload = must(parse_workload("C2D2", strict)), .target = host_target(2)};
  EXPECT_EQ(must(task_of(stored_form(task))).key(), task.key());
  StoredTask other = stored_form(task);
  other.text = "C2D1";
  EXPECT_THAT(task_of(other).error().message, HasSubstr("differs from 'C2D1' in this version"));
  other.text = "nonsense";
  EXPECT_FALSE(task_of(other).has_value());
}

TEST(Store, NothingIsChangedOrDeleted) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const Attempt attempt = timed(task, 1);
  must(store.append({&attempt, 1}));
  Database& database = *store.impl().database;
  for (const char* table :
       {"targets", "tasks", "machines", "runs", "protocols", "shapes", "candidates", "attempts"}) {
    for (const std::string& sql :
         {fmt::format("DELETE FROM {}", table), fmt::format("UPDATE {} SET id = id + 1", table)}) {
      database.execute(sql);
      const Status status = database.take_status();
      ASSERT_FALSE(status.has_value()) << sql;
      EXPECT_THAT(status.error().message, HasSubstr("are written once")) << sql;
    }
  }
}

// Two ids that begin with the same 63 bits, emulated by moving a row to the id of another.
TEST(Store, AttemptsWithCollidingRowIdsAreDistinct) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const Attempt first = timed(task, 1);
  const Attempt second = timed(task, 2);
  must(store.append({&first, 1}));
  Database& database = *store.impl().database;
  database.execute("DROP TRIGGER attempts_no_update; DROP TRIGGER candidates_no_update");
  const int64_t candidate = database.integer("SELECT id FROM candidates");
  must(store.append({&second, 1}));
  const int64_t other =
      database.integer(fmt::format("SELECT id FROM candidates WHERE id <> {}", candidate));
  must(database.take_status());
  // Deletes the rows of the second and moves those of the first to their ids.
  database.execute("DROP TRIGGER attempts_no_delete; DROP TRIGGER candidates_no_delete");
  database.execute(
      fmt::format("DELETE FROM attempts WHERE id = {0};"
                  "DELETE FROM candidates WHERE id = {1};"
                  "UPDATE attempts SET id = {0}, candidate = {1};"
                  "UPDATE candidates SET id = {1};",
                  first_number(second.id()), other));
  must(store.append({&second, 1}));
  must(store.append({&second, 1}));
  EXPECT_EQ(database.integer("SELECT count(*) FROM attempts"), 2);
  EXPECT_EQ(database.integer("SELECT count(*) FROM candidates"), 2);
  EXPECT_EQ(must(store.find_attempt(second.id())), second);
  EXPECT_EQ(must(store.attempts_beginning(second.id().hex(), 5)), std::vector{second.id()});
}

// An error ends the query: later writes of other processes are visible.
TEST(Store, DamagedAttemptsHoldNoLock) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const Attempt damaged = timed(task, 1);
  must(store.append({&damaged, 1}));
  store.impl().database->execute(
      "DROP TRIGGER attempts_no_update; UPDATE attempts SET samples = x'00ff'");
  must(store.impl().database->take_status());
  Store other = must(Store::open(folder / "a.db"));
  const Setting setting{.task = task.key(),
                        .machine = damaged.machine,
                        .protocol = damaged.protocol,
                        .code_generator = damaged.code_generator};
  int64_t sequence = 1;
  for (const std::function<bool()>& works : std::vector<std::function<bool()>>{
           [&] { return store.find_attempt(damaged.id()).has_value(); },
           [&] { return store.measured(setting).has_value(); },
           [&] { return store.best(task.key(), damaged.protocol, 100).has_value(); },
           [&] { return store.last_finals(task.key(), damaged.protocol).has_value(); }}) {
    EXPECT_FALSE(works());
    const Attempt later = timed(task, ++sequence);
    must(other.append({&later, 1}));
    EXPECT_EQ(must(store.find_attempt(later.id())), later);
  }
}

TEST(Store, ATaskMayHaveTwoTexts) {
  const ScratchFolder folder;
  Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  task.workload.text = "by another name";
  must(store.put_task(task));
  must(store.put_task(task));
  EXPECT_EQ(must(store.find_task(task.key()))->text, stored_form(task_for(kMatmul)).text);
}

}  // namespace
}  // namespace tilewright::record
