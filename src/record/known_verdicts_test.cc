#include "record/known_verdicts.h"

#include <gtest/gtest.h>

#include "record/record_testing.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests

const char* const kMatmul = "matmul:m=16,n=16,k=16";

Setting setting_of(const Attempt& attempt) {
  return {.task = attempt.task,
          .machine = attempt.machine,
          .protocol = attempt.protocol,
          .code_generator = attempt.code_generator};
}

const KnownVerdict* find(KnownVerdicts& known, const Hash128& key) {
  must(known.refresh());
  return known.peek(key);
}

// Verdicts of one program: before the search began, its own, and later ones of others.
TEST(KnownVerdicts, LaterVerdictsOfOtherProcessesAreIgnored) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const record::Run own = {.id = {7, 7}, .start_us = 1000, .command = "t", .version = "1"};
  must(store.put_run(own));
  const auto attempt = [&](int64_t end_us, double latency_ns, bool is_own) {
    Attempt made = timed(task, 1);
    made.program = {5, 5};
    if (is_own) made.run = own.id;
    made.sequence = end_us;
    made.start_us = end_us - 10;
    made.end_us = end_us;
    made.verdict.latency_ns = latency_ns;
    return made;
  };
  const Viewpoint viewpoint{.begin_us = 1000, .runs = {own.id}};
  const auto seen = [&](const Attempt& added) {
    must(store.append({&added, 1}));
    KnownVerdicts known = must(KnownVerdicts::load(store, setting_of(added), viewpoint));
    EXPECT_EQ(known.size(), 1U);
    return find(known, {5, 5})->latency_ns;
  };
  EXPECT_EQ(seen(attempt(2000, 20, false)), 20);  // of another run, later
  EXPECT_EQ(seen(attempt(2500, 25, false)), 20);  // and again: the first stays
  EXPECT_EQ(seen(attempt(500, 5, false)), 5);     // known when it began
  EXPECT_EQ(seen(attempt(600, 6, false)), 6);     // the last of those
  EXPECT_EQ(seen(attempt(1500, 15, true)), 15);   // its own
  EXPECT_EQ(seen(attempt(1700, 17, true)), 15);   // the first of the trajectory
  EXPECT_EQ(seen(attempt(3000, 30, false)), 15);
}

TEST(KnownVerdicts, EarlierVerdictsAreReportedOldestFirst) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  std::vector<Attempt> attempts;
  for (int k = 0; k < 6; ++k) {
    Attempt made = timed(task, k + 1);
    made.program = {5, static_cast<uint64_t>(k)};
    made.start_us = 100 * k;
    made.end_us = 100 * k + 50;
    made.verdict.latency_ns = 10 - k;
    attempts.push_back(made);
  }
  must(store.append(attempts));
  const KnownVerdicts known =
      must(KnownVerdicts::load(store, setting_of(attempts[0]), {.begin_us = 300, .runs = {}}));
  EXPECT_EQ(known.size(), 6U);
  const auto before = known.before();
  ASSERT_EQ(before.size(), 3U);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(before[k]->program.low, k);
  const auto fastest = known.fastest(2);
  ASSERT_EQ(fastest.size(), 2U);
  EXPECT_EQ(fastest[0]->program.low, 5U);
}

// Verdicts of another process are visible to the next query, those of this process at once.
TEST(KnownVerdicts, AreReloadedAfterWritesOfOtherProcesses) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const Attempt first = timed(task, 1), second = timed(task, 2);
  KnownVerdicts known = must(KnownVerdicts::load(store, setting_of(first)));
  EXPECT_EQ(find(known, first.program), nullptr);
  must(store.append({&second, 1}));
  known.add(second);
  EXPECT_NE(find(known, second.program), nullptr);
  EXPECT_FALSE(known.others_write());
  Store other = must(Store::open(folder / "a.db"));
  must(other.append({&first, 1}));
  EXPECT_EQ(known.peek(first.program), nullptr);
  ASSERT_NE(find(known, first.program), nullptr);
  EXPECT_EQ(known.peek(first.program)->attempt, first.id());
  EXPECT_TRUE(known.others_write());
  // Without finding one of them.
  KnownVerdicts refreshed = must(KnownVerdicts::load(store, setting_of(first)));
  const Attempt third = timed(task, 3);
  must(other.append({&third, 1}));
  EXPECT_EQ(refreshed.peek(third.program), nullptr);
  must(refreshed.refresh());
  EXPECT_NE(refreshed.peek(third.program), nullptr);
}

TEST(KnownVerdicts, ForcedSearchUsesItsVerdictsForcedMeasurementNone) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  const Attempt first = timed(task, 1);
  must(store.append({&first, 1}));
  KnownVerdicts own = must(KnownVerdicts::load(store, setting_of(first), {}, Recall::Own));
  EXPECT_EQ(find(own, first.program), nullptr);
  own.add(first);
  EXPECT_NE(find(own, first.program), nullptr);
  KnownVerdicts none = must(KnownVerdicts::load(store, setting_of(first), {}, Recall::None));
  none.add(first);
  EXPECT_EQ(find(none, first.program), nullptr);
  EXPECT_EQ(none.peek(first.program), nullptr);
  EXPECT_EQ(none.fastest(1).size(), 1U);  // for finals
}

TEST(KnownVerdicts, MachineFailuresAreSkippedAndIllegalOnesHaveText) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  Store store = store_with(folder / "a.db", task);
  Attempt device = timed(task, 1), illegal = timed(task, 2);
  device.verdict.kind = VerdictKind::Device;
  illegal.verdict.kind = VerdictKind::Illegal;
  illegal.program = {};
  const Attempt both[] = {device, illegal};
  must(store.append(both));
  KnownVerdicts known = must(KnownVerdicts::load(store, setting_of(device)));
  EXPECT_EQ(known.size(), 1U);
  EXPECT_EQ(find(known, device.program), nullptr);
  EXPECT_NE(find(known, key_of_candidate({}, illegal.trace)), nullptr);
  EXPECT_TRUE(known.before().empty());  // nothing to learn from
}

}  // namespace
}  // namespace tilewright::record
