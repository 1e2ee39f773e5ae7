#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/must_testing.h"
#include "codegen/version.h"
#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "heuristic/default_trace.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::deploy {
namespace {

using record::CachePolicy;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMatmul = "matmul:m=64,n=64,k=64,constant=B";

ModelPlan one_matmul() {
  PlanMaker maker;
  maker.input("x", f32({64, 64}));
  maker.constant("w", random_constant({64, 64}, 1));
  maker.kernel(kMatmul, {"x", "w", "y"});
  return maker.finish({"y"});
}

// A store with attempts of the model's task, with distinct programs.
class ChooseSchedules : public testing::Test {
 protected:
  void SetUp() override {
    must(store_.put_machine(machine_));
    must(store_.put_machine(detect_machine()));
    for (const uint64_t run : {1U, 2U}) {
      must(store_.put_run({.id = {run, run}, .start_us = 1, .command = "", .version = ""}));
    }
  }

  void put(const std::string& what, const std::string& trace, double latency_ns, uint64_t program,
           CachePolicy cache, bool interleaved = false, const std::string& back_end = {}) {
    const Task task{.workload = *parse_workload(what), .target = target_};
    must(store_.put_task(task));
    record::Attempt attempt;
    attempt.run = {run_, run_};
    attempt.sequence = ++sequence_;
    attempt.end_us = sequence_;
    attempt.task = task.key();
    attempt.program = {program, program};
    attempt.trace = trace;
    attempt.machine = record::machine_id(machine_);
    attempt.protocol = {
        .version = 1, .cache = cache, .interleaved = interleaved, .back_end = back_end};
    attempt.code_generator = codegen::kCodeGeneratorVersion;
    attempt.verdict = {.kind = record::VerdictKind::Timed,
                       .latency_ns = latency_ns,
                       .samples_ns = {latency_ns},
                       .text = {}};
    must(store_.append({&attempt, 1}));
  }

  double latency() { return choose().record->verdict.latency_ns; }

  Choice choose(std::string_view back_end = {}) {
    auto choices = choose_schedules(plan_, target_, &store_, back_end);
    EXPECT_TRUE(choices.has_value()) << choices.error().message;
    EXPECT_EQ(choices->size(), 1U);
    return choices->front();
  }

  TestFolder folder_;
  record::Store store_ = must(record::Store::open(folder_ / "records.db"));
  Machine machine_ = record::testing::machine_named("any");
  Target target_ = host_target(2);
  ModelPlan plan_ = one_matmul();
  int64_t sequence_ = 0;
  uint64_t run_ = 1;  // of what is put
};

TEST_F(ChooseSchedules, DefaultWithoutRecords) {
  const auto without = choose_schedules(plan_, target_, nullptr);
  ASSERT_TRUE(without.has_value());
  EXPECT_FALSE(without->front().record);
  EXPECT_THAT(without->front().note, HasSubstr("no store"));

  const Choice choice = choose();
  EXPECT_EQ(choice.trace, *heuristic::default_trace(plan_.partition.groups[0].workload, target_));
  EXPECT_FALSE(choice.record);
  EXPECT_THAT(choice.note, HasSubstr("or of a similar one"));
}

TEST_F(ChooseSchedules, ReportsTheNearestRecord) {
  put("matmul:m=64,n=64,k=1024,constant=B", "", 1000, 1, CachePolicy::Warm);
  put("matmul:m=64,n=128,k=64,constant=B", "", 2000, 2, CachePolicy::Warm);
  put("softmax:m=64,n=64", "", 3000, 3, CachePolicy::Warm);
  const Choice choice = choose();
  EXPECT_FALSE(choice.record);
  EXPECT_THAT(choice.note, HasSubstr("nearest is matmul:m=64,n=128,k=64"));
  EXPECT_THAT(choice.note, HasSubstr("2.0 us"));
}

TEST_F(ChooseSchedules, BackEndsHaveSeparateRecords) {
  put(kMatmul, "split C i [8]", 900, 1, CachePolicy::WeightsCold);
  const Choice other = choose("c");
  EXPECT_EQ(other.record->verdict.latency_ns, 900);
  EXPECT_EQ(other.note, "not tuned with the back end c");
  put(kMatmul, "split C i [16]", 700, 2, CachePolicy::Warm, false, "c");
  EXPECT_EQ(choose("c").record->verdict.latency_ns, 700);
  EXPECT_EQ(latency(), 900);
  put(kMatmul, "split C i [4]", 800, 3, CachePolicy::WeightsCold, true, "c");
  EXPECT_EQ(choose("c").record->verdict.latency_ns, 800);
  EXPECT_EQ(choose("c").note, "");
  EXPECT_EQ(latency(), 900);
}

// Neither the kernel itself nor a record of another back end is the nearest one.
TEST_F(ChooseSchedules, NearestRecordIsAnotherTaskOfThisBackEnd) {
  put(kMatmul, "split C i [8]", 200, 1, CachePolicy::WeightsCold, false, "c");
  EXPECT_EQ(choose().note, "no record of this kernel or of a similar one");
  put("matmul:m=64,n=128,k=64,constant=B", "", 300, 2, CachePolicy::Warm, false, "c");
  EXPECT_EQ(choose().note, "no record of this kernel or of a similar one");
  EXPECT_THAT(choose("d").note, HasSubstr("or of a similar one"));
  put("matmul:m=64,n=128,k=128,constant=B", "", 4000, 3, CachePolicy::Warm);
  EXPECT_THAT(choose().note,
              HasSubstr("nearest is matmul:m=64,n=128,k=128,dtype=f32,constant=B (4.0 us)"));
  put(kMatmul, "split Gone i [8]", 700, 4, CachePolicy::WeightsCold);
  EXPECT_THAT(choose().note,
              HasSubstr("nearest is matmul:m=64,n=128,k=128,dtype=f32,constant=B (4.0 us)"));
}

TEST_F(ChooseSchedules, PrefersColdWeights) {
  put(kMatmul, "split C i [8]", 900, 1, CachePolicy::Warm);
  EXPECT_EQ(latency(), 900);
  EXPECT_EQ(print_protocol(choose().record->protocol), "v1;warm");
  EXPECT_THAT(choose().note, HasSubstr("not as in a model"));
  put(kMatmul, "split C i [16]", 1200, 2, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [4]", 1300, 3, CachePolicy::WeightsCold);
  const Choice choice = choose();
  EXPECT_EQ(choice.record->verdict.latency_ns, 1200);
  EXPECT_EQ(choice.trace, *schedule::trace_from_text("split C i [16]"));
  EXPECT_THAT(choice.note, IsEmpty());
}

// The winner of the alternating finals is the best, until a schedule faster than all of them is
// found.
TEST_F(ChooseSchedules, FinalsBeforeSingleTimes) {
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [16]", 1010, 2, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 1105, 1, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [16]", 1100, 2, CachePolicy::WeightsCold, true);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [16]"));
  put(kMatmul, "split C i [32]", 800, 3, CachePolicy::WeightsCold);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [32]"));
}

// The winner in the table of `tune`, regardless of the finals of other tuning runs.
TEST_F(ChooseSchedules, PrefersTheWinnerOfTheLastFinals) {
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [16]", 1010, 2, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 900, 1, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [16]", 905, 2, CachePolicy::WeightsCold, true);
  EXPECT_EQ(latency(), 900);
  run_ = 2;
  put(kMatmul, "split C i [32]", 1005, 3, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [16]", 1100, 2, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [32]", 1105, 3, CachePolicy::WeightsCold, true);
  EXPECT_EQ(latency(), 1100);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [16]"));
}

// A later record wins only if it is faster than the finalist measured alone, not in the finals.
TEST_F(ChooseSchedules, LaterRecordWinsOnlyIfFasterThanTheFinalistAlone) {
  put(kMatmul, "split C i [64]", 950, 4, CachePolicy::WeightsCold);  // cut from the finals
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 1200, 1, CachePolicy::WeightsCold, true);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [8]"));
  put(kMatmul, "split C i [16]", 1001, 2, CachePolicy::WeightsCold);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [8]"));
  put(kMatmul, "split C i [32]", 999, 3, CachePolicy::WeightsCold);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [32]"));
}

// Inside a model, another schedule may be faster than alone. A schedule that is found later is
// compared with the time of the winner alone.
TEST_F(ChooseSchedules, FinalsInTheModelBeforeThoseOutside) {
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [16]", 1010, 2, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [16]", 1010, 2, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [16]", 1300, 2, CachePolicy::InModel, true);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [16]"));
  EXPECT_EQ(latency(), 1300);
  EXPECT_THAT(choose().note, IsEmpty());
  put(kMatmul, "split C i [32]", 1200, 3, CachePolicy::WeightsCold);
  EXPECT_EQ(latency(), 1300);
  put(kMatmul, "split C i [32]", 1005, 3, CachePolicy::WeightsCold);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [32]"));
  run_ = 2;
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold, true);
  EXPECT_EQ(choose().trace, *schedule::trace_from_text("split C i [8]"));
}

TEST_F(ChooseSchedules, FinalistsOfAKernelAreDifferentPrograms) {
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [16]", 1010, 2, CachePolicy::WeightsCold);
  put(kMatmul, "split Gone i [8]", 1015, 5, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [32]", 1020, 3, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [64]", 1030, 4, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 1003, 1, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [16]", 1002, 2, CachePolicy::WeightsCold, true);
  put(kMatmul, "split C i [8]", 1500, 1, CachePolicy::InModel, true);
  const auto finalists = choose_finalists(plan_, target_, &store_, 3);
  ASSERT_TRUE(finalists.has_value()) << finalists.error().message;
  ASSERT_EQ(finalists->size(), 1);
  std::vector<std::string> traces;
  for (const Choice& one : finalists->front()) traces.push_back(one.record->trace);
  EXPECT_EQ(traces,
            (std::vector<std::string>{"split C i [8]", "split C i [16]", "split C i [32]"}));
  EXPECT_EQ(choose_finalists(plan_, target_, nullptr, 3)->front().size(), 1);
}

TEST_F(ChooseSchedules, PrefersThisMachine) {
  put(kMatmul, "split C i [8]", 700, 1, CachePolicy::WeightsCold);
  put(kMatmul, "split C i [8]", 700, 1, CachePolicy::WeightsCold, true);
  EXPECT_EQ(latency(), 700);
  machine_ = detect_machine();
  put(kMatmul, "split C i [16]", 1000, 2, CachePolicy::Warm);
  EXPECT_EQ(latency(), 700);  // of the protocol of models
  put(kMatmul, "split C i [16]", 1000, 2, CachePolicy::WeightsCold);
  EXPECT_EQ(latency(), 1000);
  put(kMatmul, "split C i [32]", 1100, 3, CachePolicy::WeightsCold, true);
  EXPECT_EQ(latency(), 1100);
  EXPECT_TRUE(choose().record->protocol.interleaved);
}

TEST_F(ChooseSchedules, SkipsTracesThatNoLongerApply) {
  put(kMatmul, "split Gone i [8]", 700, 1, CachePolicy::WeightsCold);
  EXPECT_FALSE(choose().record);
  EXPECT_THAT(choose().note, HasSubstr("no longer apply"));
  put(kMatmul, "split C i [8]", 1000, 2, CachePolicy::WeightsCold);
  EXPECT_EQ(latency(), 1000);
}

// The same content under other names: the trace refers to the names of its own task.
TEST_F(ChooseSchedules, MatchesWorkloadsWithOtherNames) {
  put(kMatmul, "split C i [8]", 1000, 1, CachePolicy::WeightsCold);
  graph::Group& group = plan_.partition.groups[0];
  te::DagBuilder builder;
  const te::TensorId p = builder.placeholder("P", {64, 64}, ir::Scalar::F32);
  const te::TensorId q = builder.placeholder("Q", {64, 64}, ir::Scalar::F32);
  const te::Axis a = builder.axis("a", 64), b = builder.axis("b", 64), r = builder.axis("r", 64);
  builder.reduce("R", {a, b}, {r}, ir::BinaryOp::Add,
                 builder.read(p, {a.var, r.var}) * builder.read(q, {r.var, b.var}),
                 ir::Scalar::F32);
  group.workload = dag_workload(std::move(builder).build(), {"Q"});
  ASSERT_EQ(group.workload.key(), parse_workload(kMatmul)->key());

  const Choice choice = choose();
  EXPECT_EQ(choice.record->verdict.latency_ns, 1000);
  ASSERT_NE(choice.workload, nullptr);
  const auto program = compile_model(plan_, {&choice, 1}, target_);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  const graph::Constant x = random_constant({64, 64}, 2);
  const Program plain = must_compile(one_matmul());
  expect_near(floats(Runner::load(*program)->run({&x, 1})->front()),
              floats(Runner::load(plain)->run({&x, 1})->front()));
}

}  // namespace
}  // namespace tilewright::deploy
