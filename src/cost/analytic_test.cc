#include "cost/analytic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "feature/rows.h"
#include "feature/rows_table.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::cost {
namespace {

struct Cell {
  std::string_view name;
  double value;
};

// The update of a good matrix product, with some numbers changed.
feature::Encoded row_with(std::initializer_list<Cell> changes) {
  std::vector<Cell> cells = {
      {"float_mad", 1e8},
      {"iterations", 1e8},
      {"is_float", 1},
      {"accumulator_bytes", 4},
      {"vector_bytes", 64},
      {"threads", 2},
      {"l2_bytes", 1 << 20},
      {"l3_bytes", 1 << 24},
      {"lanes_used", 1},
      {"guard_density", 1},
      {"vectorize_innermost", 16},
      {"is_update", 1},
      {"sums_in_flight", 24},
      {"buffer_bytes", 1536},
      {"updates_in_registers", 512},
      {"code_copies", 24},
      {"vector_loads_per_op", 0.1},
      {"innermost_trips", 512},
      {"broadcasts_per_op", 0.5},
      {"instructions", 2e7},
      {"register_pressure", 0.8},
      {"tasks", 16},
      {"instructions_per_thread", 1e7},
      {"l1_traffic", 1e6},
      {"body_instructions", 96},
      {"parallel_regions", 1},
  };
  cells.insert(cells.end(), changes);
  const auto table = feature::feature_table();
  feature::Encoded batch{.width = feature::feature_count()};
  batch.values.assign(feature::feature_count(), 0);
  for (const Cell& cell : cells) {
    const auto found = std::ranges::find(table, cell.name, &feature::FeatureInfo::name);
    CHECK(found != table.end(), "no feature {}", cell.name);
    batch.values[static_cast<size_t>(found - table.begin())] =
        static_cast<float>(std::log2(cell.value + 1));
  }
  batch.begin.push_back(1);
  return batch;
}

double cycles_of(const feature::Encoded& batch) {
  return std::exp2(
      -static_cast<double>(scores_of(*make_analytic(AnalyticConstants{}), {batch})[0]));
}

TEST(Analytic, EstimatesArithmeticNearItsPeak) {
  // 1e8 multiply-adds of 16 lanes, two a cycle, on two threads.
  const double ideal = 1e8 / 16 / 2 / 2;
  const double cycles = cycles_of(row_with({}));
  EXPECT_GT(cycles, ideal);
  EXPECT_LT(cycles, 2.5 * ideal);
}

TEST(Analytic, EachDefectRaisesTheEstimate) {
  const double good = cycles_of(row_with({}));
  const std::pair<const char*, feature::Encoded> faults[] = {
      {"sums that wait for each other", row_with({{"sums_in_flight", 1}})},
      {"lanes without work", row_with({{"lanes_used", 0.5}})},
      {"one thread does all", row_with({{"instructions_per_thread", 2e7}})},
      {"gathers", row_with({{"gathers_per_op", 16}})},
      {"spills", row_with({{"register_pressure", 1.5}})},
      {"sums in memory", row_with({{"updates_in_registers", 0}})},
      {"more loads", row_with({{"vector_loads_per_op", 4}})},
      {"traffic of the second cache", row_with({{"l1_traffic", 1e9}})},
      {"traffic of the third cache", row_with({{"l2_traffic", 1e9}})},
      {"traffic of memory", row_with({{"l3_traffic", 1e9}})},
      {"lanes that fill no vector", row_with({{"vectorize_innermost", 13}})},
      {"short inner loops", row_with({{"code_copies", 1}, {"innermost_trips", 1}})},
      {"many parallel loops", row_with({{"parallel_regions", 1000}})},
  };
  for (const auto& [what, batch] : faults) EXPECT_GT(cycles_of(batch), 1.15 * good) << what;
}

TEST(Analytic, DataThatFitsACacheIsWarm) {
  EXPECT_EQ(cycles_of(row_with({{"l2_traffic", 1e6}})), cycles_of(row_with({})));
  EXPECT_EQ(cycles_of(row_with({{"l3_traffic", 1e7}})), cycles_of(row_with({})));
}

TEST(Analytic, ProgramsWithSeveralRowsAndWithNone) {
  feature::Encoded batch = row_with({});
  const feature::Encoded second = row_with({{"l1_traffic", 1e9}});
  batch.values.insert(batch.values.end(), second.values.begin(), second.values.end());
  batch.begin = {0, 1, 1, 2, 2};
  const std::vector<float> scores = scores_of(*make_analytic(AnalyticConstants{}), {batch});
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_GT(scores[0], scores[2]);
  EXPECT_EQ(scores[1], 0);
  EXPECT_EQ(scores[3], 0);
}

double score_of(const Task& task, const std::string& trace_text) {
  Machine machine = detect_machine();
  machine.vendor = "AuthenticAMD";
  const auto initial = schedule::initial_tree(task.workload);
  const auto trace = schedule::trace_from_text(trace_text);
  CHECK(initial.has_value() && trace.has_value(), "{}", trace_text);
  const auto tree = schedule::apply_or_explain(*initial, *trace);
  CHECK(tree.has_value(), "{}", tree.error().message);
  feature::FeatureExtractor maker(task, machine);
  feature::Encoded batch;
  maker.append(*tree, &batch);
  return scores_of(*make_analytic(task.target, machine), {batch})[0];
}

TEST(Analytic, HandWrittenSchedulesScoreBetterThanTheEmptyTrace) {
  for (const std::string name : {"C2D2", "DEP0"}) {
    const Task task{parse_workload(name).value(), parse_target("x86-64-v4;threads=2").value()};
    std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + "/bench/traces/" + name + ".trace");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_GT(score_of(task, text.str()), score_of(task, "") + 2) << name;
  }
}

}  // namespace
}  // namespace tilewright::cost
