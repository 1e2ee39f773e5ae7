#include "tune/donors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/record_testing.h"
#include "tune/chains_testing.h"

namespace tilewright::tune {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using record::Attempt;

constexpr int64_t kBegin = 1000;
const Hash128 kHere = record::machine_id(machine_named("one"));

// Donated schedules by the factor of their only split: the tests give each its own.
std::vector<int64_t> factors_of(const std::vector<Donation>& donations) {
  std::vector<int64_t> factors;
  for (const Donation& donation : donations) {
    factors.push_back(std::get<schedule::Split>(donation.trace.steps.at(0)).factors[0]);
  }
  return factors;
}

std::string trace_of(int64_t factor) { return "split C i [" + std::to_string(factor) + "]\n"; }

class DonorsOfStore : public ::testing::Test {
 protected:
  // An attempt that ended before the trajectory began, with a program of its own.
  Attempt attempt(const Task& task, int64_t factor, double latency_ns, int64_t end_us = 500) {
    Attempt made = timed(task, ++sequence_, latency_ns);
    made.trace = trace_of(factor);
    made.start_us = end_us - 1;
    made.end_us = end_us;
    return made;
  }
  void add(const Task& task, const std::vector<Attempt>& attempts) {
    must(store_.put_task(task));
    must(store_.append(attempts));
  }
  std::vector<int64_t> donated(std::span<const Sibling> siblings = {}, bool reads = true) {
    const Attempt any = timed(task_, 1);
    Donors donors(reads ? &store_ : nullptr,
                  {.task = task_.key(),
                   .machine = kHere,
                   .protocol = any.protocol,
                   .code_generator = any.code_generator},
                  kBegin);
    const std::vector<Donation> first = must(donors.donations_for(task_, siblings));
    const std::vector<Donation> again = must(donors.donations_for(task_, siblings));
    EXPECT_EQ(factors_of(first), factors_of(again));
    return factors_of(first);
  }

  ScratchFolder folder_;
  Task task_ = task_for("matmul:m=64,n=64,k=64");
  Task near_ = task_for("matmul:m=64,n=64,k=96");
  Task far_ = task_for("matmul:m=512,n=64,k=64");
  record::Store store_ = store_with(folder_ / "a.db", task_);
  int64_t sequence_ = 0;
};

TEST_F(DonorsOfStore, TheNearestTaskFirstAndTheFastestOfEach) {
  EXPECT_TRUE(donated().empty());
  add(far_, {attempt(far_, 1, 30), attempt(far_, 2, 10), attempt(far_, 3, 20)});
  add(near_, {attempt(near_, 4, 500), attempt(near_, 5, 600), attempt(near_, 6, 700),
              attempt(near_, 7, 400)});
  EXPECT_THAT(donated(), testing::ElementsAre(7, 2, 4, 3, 5, 1));
  // The task itself is the nearest of all.
  add(task_, {attempt(task_, 8, 9000)});
  EXPECT_THAT(donated(), testing::ElementsAre(8, 7, 2, 4, 3, 5, 1));
}

TEST_F(DonorsOfStore, AProgramThatWasMeasuredAgainCountsOnce) {
  std::vector<Attempt> same = {attempt(near_, 1, 50), attempt(near_, 2, 40), attempt(near_, 1, 30)};
  same[2].program = same[0].program;
  add(near_, same);
  EXPECT_THAT(donated(), testing::ElementsAre(1, 2));
}

TEST_F(DonorsOfStore, OthersAreLeftOut) {
  const Task softmax = task_for("softmax:m=64,n=64");
  const Task wider{.workload = task_.workload, .target = must(parse_target("x86-64-v4;threads=1"))};
  add(softmax, {attempt(softmax, 1, 10)});
  add(wider, {attempt(wider, 2, 10)});
  std::vector<Attempt> mixed = {attempt(near_, 3, 10, kBegin), attempt(near_, 4, 20, kBegin - 1),
                                attempt(near_, 5, 10), attempt(near_, 6, 10),
                                attempt(near_, 7, 15)};
  mixed[2].verdict.kind = record::VerdictKind::Censored;
  mixed[3].protocol.interleaved = true;
  mixed[4].trace = "hop C i\n";
  add(near_, mixed);
  EXPECT_THAT(donated(), testing::ElementsAre(4));
}

TEST_F(DonorsOfStore, OtherNumbersOfThreadsComeLast) {
  const Task threads = task_for("matmul:m=64,n=64,k=96", 2);
  add(threads, {attempt(threads, 1, 10)});
  add(far_, {attempt(far_, 2, 10)});
  EXPECT_THAT(donated(), testing::ElementsAre(2, 1));
}

// The two halves of a residual block. The last stage of the donor is that of the task.
TEST(Donors, ElementwiseOperatorsAroundAProductMayDiffer) {
  const char* const target = "x86-64-v3;threads=1";
  const Task task = product_and_adds(2, 64, target);
  const Task fewer = product_and_adds(1, 64, target), small = product_and_adds(2, 32, target);
  const Task tiny = product_and_adds(2, 8, target);
  std::vector<Best> best(1);
  best[0].proposal.trace = must(
      schedule::trace_from_text("split n1_Y i [1]\nsplit n0_Y k [4]\ncompute_at n0_Y n1_Y i.0\n"));
  std::vector<Best> small_best(1), tiny_best(1);
  small_best[0].proposal.trace = must(schedule::trace_from_text("split n2_Y i [2]\n"));
  tiny_best[0].proposal.trace = must(schedule::trace_from_text("split n2_Y i [3]\n"));
  const Sibling siblings[] = {{.task = &tiny, .fastest = tiny_best},
                              {.task = &small, .fastest = small_best},
                              {.task = &fewer, .fastest = best}};
  const std::vector<Donation> found =
      must(Donors(nullptr, {}, kBegin).donations_for(task, siblings));
  ASSERT_EQ(found.size(), 3U);
  // An operator more or less counts as a doubling of the rows.
  std::vector<std::string> first = {to_text(found[0].trace), to_text(found[1].trace)};
  EXPECT_THAT(first, testing::UnorderedElementsAre(
                         "split n2_Y i [2]\n",
                         "split n2_Y i [1]\nsplit n0_Y k [4]\ncompute_at n0_Y n2_Y i.0\n"));
  EXPECT_EQ(to_text(found[2].trace), "split n2_Y i [3]\n");
  for (const Donation& one : found) {
    EXPECT_EQ(one.same_extents, one.trace.steps.size() == 3) << to_text(one.trace);
  }
}

// A run adds its tasks to the store as it begins them. A replay finds all of them there.
TEST_F(DonorsOfStore, TasksWithoutEarlierRecordsTakeNoPlaces) {
  add(far_, {attempt(far_, 1, 10)});
  for (size_t k = 1; k <= Donors::kMaxStored + 1; ++k) {
    const Task later = task_for("matmul:m=64,n=64,k=" + std::to_string(64 + k));
    add(later, {attempt(later, 2, 10, kBegin + 1)});
  }
  EXPECT_THAT(donated(), testing::ElementsAre(1));
}

TEST_F(DonorsOfStore, TheNearestOfManyDonate) {
  for (size_t k = 1; k <= Donors::kMaxStored + 4; ++k) {
    const Task one = task_for("matmul:m=64,n=64,k=" + std::to_string(64 + k));
    add(one, {attempt(one, static_cast<int64_t>(k), 10)});
  }
  const std::vector<int64_t> nearest = donated();
  EXPECT_EQ(nearest.size(), Donors::kMaxStored);
  EXPECT_TRUE(std::ranges::is_sorted(nearest));
  EXPECT_EQ(nearest.back(), static_cast<int64_t>(Donors::kMaxStored));
}

TEST_F(DonorsOfStore, RecordsOfThisMachineAndProtocolArePreferred) {
  must(store_.put_machine(machine_named("two")));
  std::vector<Attempt> attempts = {attempt(near_, 1, 10), attempt(near_, 2, 20),
                                   attempt(near_, 3, 30), attempt(near_, 4, 40)};
  attempts[0].machine = record::machine_id(machine_named("two"));
  attempts[1].protocol.cache = record::CachePolicy::WeightsCold;
  attempts[2].code_generator = 2;
  add(near_, attempts);
  // The older verdicts fill what the preferred setting leaves.
  EXPECT_THAT(donated(), testing::ElementsAre(4, 3, 2));
  // A task that was measured elsewhere alone comes after all others.
  const Task nearer = task_for("matmul:m=64,n=64,k=80");
  Attempt elsewhere = attempt(nearer, 5, 10);
  elsewhere.machine = attempts[0].machine;
  add(nearer, {elsewhere});
  add(far_, {attempt(far_, 6, 10)});
  EXPECT_THAT(donated(), testing::ElementsAre(4, 6, 5, 3, 2));
  // Except the task itself.
  Attempt own = attempt(task_, 7, 10);
  own.machine = attempts[0].machine;
  add(task_, {own});
  EXPECT_THAT(donated(), testing::ElementsAre(7, 4, 6, 5, 3, 2));
}

// As after a change of the code generator: the fastest programs of before are donated too, each
// once.
TEST_F(DonorsOfStore, OneNewVerdictDoesNotHideTheOlderOnes) {
  std::vector<Attempt> attempts = {attempt(task_, 1, 10), attempt(task_, 2, 20),
                                   attempt(task_, 3, 30), attempt(task_, 2, 50)};
  attempts[3].program = attempts[1].program;
  for (int k = 0; k < 3; ++k) attempts[static_cast<size_t>(k)].code_generator = 2;
  add(task_, attempts);
  EXPECT_THAT(donated(), testing::ElementsAre(2, 1, 3));
}

TEST_F(DonorsOfStore, SiblingsOfTheRunDonateWithAndWithoutTheStore) {
  std::vector<Best> fastest(2);
  fastest[0].proposal.trace = must(schedule::trace_from_text(trace_of(1)));
  fastest[1].proposal.trace = must(schedule::trace_from_text(trace_of(2)));
  const Task softmax = task_for("softmax:m=64,n=64");
  const Task threads = task_for("matmul:m=64,n=64,k=64", 2);  // no run has both targets
  const Sibling siblings[] = {{.task = &far_, .fastest = fastest},
                              {.task = &softmax, .fastest = fastest},
                              {.task = &threads, .fastest = fastest},
                              {.task = &near_, .fastest = {}}};
  add(near_, {attempt(near_, 3, 10)});
  EXPECT_THAT(donated(siblings), testing::ElementsAre(3, 1, 2));
  EXPECT_THAT(donated(siblings, false), testing::ElementsAre(1, 2));
}

TEST_F(DonorsOfStore, SizesAreKeptBetweenEqualExtentsOnly) {
  add(task_, {attempt(task_, 1, 10)});
  add(near_, {attempt(near_, 2, 10)});
  const Attempt any = timed(task_, 1);
  Donors donors(&store_, {.task = task_.key(), .machine = kHere, .protocol = any.protocol}, kBegin);
  const std::vector<Donation> found = must(donors.donations_for(task_, {}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].same_extents);
  EXPECT_FALSE(found[1].same_extents);
}

}  // namespace
}  // namespace tilewright::tune
