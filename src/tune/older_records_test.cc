// Files of an older version, as it wrote them: a store of schema 3 and its export. Keys of tasks
// and programs are unchanged, so their verdicts are found. They are verdicts of an older code
// generator: programs are measured again, but the fastest schedules remain in use.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/file.h"
#include "codegen/version.h"
#include "record/database.h"
#include "record/known_verdicts.h"
#include "record/ndjson.h"
#include "record/record_testing.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"

namespace tilewright::tune {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using record::Attempt;
using record::KnownVerdict;
using record::KnownVerdicts;
using record::Store;

std::string written(const std::string& name) {
  return must(read_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "src" / "record" / name));
}

Store upgraded(const std::filesystem::path& path) {
  auto database = must(record::Database::open(path, record::Access::Create));
  database->execute(written("schema3.sql"));
  must(database->take_status());
  database.reset();
  return must(Store::open(path));
}

Store imported(const std::filesystem::path& path) {
  Store store = must(Store::open(path));
  const record::ImportReport report =
      must(record::import_ndjson_text(store, written("schema3.ndjson")));
  EXPECT_EQ(report.malformed, 0);
  EXPECT_EQ(report.foreign, 0);
  return store;
}

std::vector<Attempt> attempts_of(Store& store, const Hash128& task) {
  std::vector<Attempt> attempts;
  must(store.for_each_attempt(task, [&](const Attempt& one) {
    attempts.push_back(one);
    return true;
  }));
  return attempts;
}

void expect_valid(Store& store) {
  const std::vector<record::StoredTask> tasks = must(store.tasks());
  ASSERT_EQ(tasks.size(), 2U);
  for (const record::StoredTask& stored : tasks) {
    const Task task = must(record::task_of(stored));
    EXPECT_EQ(task.key(), stored.key) << stored.text;
    const schedule::LoopTree initial = must(schedule::initial_tree(task.workload));
    const std::vector<Attempt> attempts = attempts_of(store, stored.key);
    EXPECT_GE(attempts.size(), 4U);
    for (const Attempt& one : attempts) {
      const schedule::Trace trace = must(schedule::trace_from_text(one.trace));
      const schedule::LoopTree tree = must(schedule::apply_or_explain(initial, trace));
      EXPECT_EQ(program_hash(tree, task.target), one.program) << stored.text << "\n" << one.trace;
      KnownVerdicts known =
          must(KnownVerdicts::load(store, {.task = stored.key,
                                           .machine = one.machine,
                                           .protocol = one.protocol,
                                           .code_generator = one.code_generator}));
      const KnownVerdict* const verdict = known.peek(program_hash(tree, task.target));
      ASSERT_NE(verdict, nullptr);
      EXPECT_EQ(verdict->kind, one.verdict.kind);
      EXPECT_GT(verdict->latency_ns, 0);
    }
  }
}

TEST(OlderRecords, AStoreIsUpgradedAndItsVerdictsStayValid) {
  const ScratchFolder folder;
  Store store = upgraded(folder / "a.db");
  expect_valid(store);
}

TEST(OlderRecords, AnExportIsImportedAndItsVerdictsStayValid) {
  const ScratchFolder folder;
  Store store = imported(folder / "a.db");
  expect_valid(store);
}

// `tune` and `measure` query the verdicts of the present code generator; `compile`, `run` and
// `bench` query the fastest schedule of any.
TEST(OlderRecords, FastestScheduleOfAnOlderCodeGeneratorIsUsed) {
  const ScratchFolder folder;
  Store store = upgraded(folder / "a.db");
  for (const record::StoredTask& stored : must(store.tasks())) {
    for (const Attempt& one : attempts_of(store, stored.key)) {
      ASSERT_LT(one.code_generator, codegen::kCodeGeneratorVersion);
      KnownVerdicts known =
          must(KnownVerdicts::load(store, {.task = stored.key,
                                           .machine = one.machine,
                                           .protocol = one.protocol,
                                           .code_generator = codegen::kCodeGeneratorVersion}));
      EXPECT_EQ(known.size(), 0U);
      EXPECT_EQ(known.peek(one.program), nullptr);

      const std::vector<Attempt> best = must(store.best(stored.key, one.protocol, 1, one.machine));
      ASSERT_EQ(best.size(), 1U);
      EXPECT_LT(best[0].code_generator, codegen::kCodeGeneratorVersion);
      EXPECT_LE(best[0].verdict.latency_ns, one.verdict.latency_ns);
    }
  }
}

TEST(OlderRecords, StoreAndExportHaveTheSameContent) {
  const ScratchFolder folder;
  Store a = upgraded(folder / "a.db"), b = imported(folder / "b.db");
  std::ostringstream from_a, from_b;
  must(record::export_ndjson(a, from_a));
  must(record::export_ndjson(b, from_b));
  EXPECT_EQ(from_a.str(), from_b.str());
}

}  // namespace
}  // namespace tilewright::tune
