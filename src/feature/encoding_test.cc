#include "feature/encoding.h"

#include <gtest/gtest.h>

#include "feature/program_encoder.h"
#include "feature/rows.h"
#include "feature/rows_table.h"
#include "schedule/apply.h"
#include "schedule/find_genome.h"
#include "task/parse.h"

namespace tilewright::feature {
namespace {

using schedule::Annotate;
using schedule::Annotation;
using schedule::Genome;
using schedule::Sketch;
using schedule::StageName;

// C's i in tiles, its lanes or not.
Sketch some_sketch() {
  Result<schedule::Trace> trace = schedule::trace_from_text(
      "split C i [4]\nsplit C j [16]\nreorder C [i.0, i.1, j.0, k, j.1]\n"
      "annotate C j.1 vectorize\n");
  CHECK(trace.has_value(), "{}", trace.error().message);
  const schedule::Step lanes = trace->steps[3];
  const StageName stage = std::get<Annotate>(lanes).stage;
  Sketch sketch{.trace = *trace, .holes = {}};
  const schedule::TileDomain tiles{.choices = {{1}, {2}, {4}, {8}, {16}, {32}}, .extent = 32};
  sketch.holes.push_back({.step = 0, .stage = stage, .domain = tiles});
  sketch.holes.push_back({.step = 3,
                          .stage = stage,
                          .domain = schedule::StepDomain{.choices = {std::nullopt, lanes}}});
  return sketch;
}

class Encodings : public testing::Test {
 protected:
  ProgramEncoder encoder(std::vector<std::string> names) {
    auto made = ProgramEncoder::make(
        {.task = &task_, .machine = &machine_, .initial = &initial_, .sketches = sketches_}, names);
    CHECK(made.has_value(), "{}", made.error().message);
    return *std::move(made);
  }
  schedule::Trace trace_of(std::vector<uint16_t> genes) {
    schedule::Trace trace;
    schedule::instantiate(sketches_[0], {std::move(genes)}, &trace);
    return trace;
  }

  Task task_{parse_workload("matmul:m=32,n=32,k=8").value(),
             parse_target("x86-64-v3;threads=1").value()};
  Machine machine_;
  schedule::LoopTree initial_ = schedule::initial_tree(task_.workload).value();
  std::vector<Sketch> sketches_ = {some_sketch()};
};

TEST_F(Encodings, FeaturesAreRowsOfTheLoopTree) {
  Inputs inputs;
  ASSERT_TRUE(encoder({"features"}).append(trace_of({2, 1}), &inputs));
  Encoded rows;
  FeatureExtractor(task_, machine_)
      .append(*schedule::apply_or_explain(initial_, trace_of({2, 1})), &rows);
  EXPECT_EQ(inputs, Inputs{rows});
  EXPECT_EQ(inputs[0].width, feature_count());
  EXPECT_EQ(inputs[0].version, kFeatureVersion);
  const Inputs empty = encoder({"features"}).empty_inputs();
  EXPECT_EQ(empty[0].programs(), 0U);
  EXPECT_EQ(std::pair(empty[0].width, empty[0].version),
            std::pair(feature_count(), kFeatureVersion));
}

TEST_F(Encodings, KnobsAreTheGenome) {
  ProgramEncoder knobs = encoder({"knobs"});
  EXPECT_FALSE(knobs.compares_across_tasks());
  Inputs inputs;
  ASSERT_TRUE(knobs.append(trace_of({0, 0}), &inputs));
  ASSERT_TRUE(knobs.append(trace_of({3, 1}), &inputs));  // 32 = 4 * 8
  EXPECT_EQ(inputs[0].width, 4U);
  EXPECT_EQ(inputs[0].values, (std::vector<float>{0, 5, 0, 0, 0, 2, 3, 1}));
  // With the genome at hand the same.
  Inputs again;
  const schedule::Trace trace = trace_of({3, 1});
  const Genome genome{{3, 1}};
  ASSERT_TRUE(
      knobs.append({.tree = nullptr, .trace = &trace, .sketch = 0, .genome = &genome}, &again));
  EXPECT_EQ(again[0].values, (std::vector<float>{0, 2, 3, 1}));
}

TEST_F(Encodings, SeveralEncodingsCoverTheSamePrograms) {
  ProgramEncoder both = encoder({"features", "knobs"});
  EXPECT_FALSE(both.compares_across_tasks());
  EXPECT_TRUE(encoder({"features"}).compares_across_tasks());
  Inputs inputs;
  ASSERT_TRUE(both.append(trace_of({1, 0}), &inputs));
  const Inputs before = inputs;
  // No genome gives this program: it has features but no knobs, and is omitted from both.
  EXPECT_FALSE(both.append(*schedule::trace_from_text("split C k [2]\n"), &inputs));
  EXPECT_FALSE(both.append(*schedule::trace_from_text("split C x [2]\n"), &inputs));  // not legal
  EXPECT_EQ(inputs, before);
  EXPECT_EQ(inputs[0].programs(), 1U);
  EXPECT_EQ(inputs[1].programs(), 1U);
}

TEST_F(Encodings, OnlyTheRequiredOnesMustRepresentAProgram) {
  const schedule::Trace of_no_genome = *schedule::trace_from_text("split C k [2]\n");
  const schedule::Trace known = trace_of({1, 0});
  ProgramEncoder both = encoder({"features", "knobs"});
  Inputs inputs, rows, knobs;
  EXPECT_FALSE(both.append({.trace = &of_no_genome}, 2, &inputs));
  EXPECT_TRUE(both.append({.trace = &of_no_genome}, 1, &inputs));  // the first one without knobs
  EXPECT_TRUE(both.append({.trace = &known}, 1, &inputs));
  ASSERT_TRUE(encoder({"features"}).append(of_no_genome, &rows));
  ASSERT_TRUE(encoder({"features"}).append(known, &rows));
  ASSERT_TRUE(encoder({"knobs"}).append(known, &knobs));
  EXPECT_EQ(inputs[0], rows[0]);
  EXPECT_EQ(inputs[1].programs(), 2U);
  EXPECT_FALSE(inputs[1].has_rows(0));
  EXPECT_TRUE(inputs[1].has_rows(1));
  EXPECT_EQ(inputs[1].width, knobs[0].width);
  EXPECT_EQ(inputs[1].version, knobs[0].version);
  EXPECT_EQ(inputs[1].values, knobs[0].values);
  // Without a requirement, only an illegal program is left out.
  EXPECT_TRUE(encoder({"knobs"}).append({.trace = &of_no_genome}, 0, &knobs));
  const schedule::Trace illegal = *schedule::trace_from_text("split C x [2]\n");
  EXPECT_FALSE(both.append({.trace = &illegal}, 0, &inputs));
}

TEST_F(Encodings, AnUnknownOneIsAnError) {
  const std::vector<std::string> names = {"smells"};
  EXPECT_EQ(ProgramEncoder::make({}, names).error().message,
            "there is no encoding 'smells'; there are " + table_names(encodings().entries()));
}

TEST_F(Encodings, GenomesAreFoundFromTraces) {
  for (uint16_t tile = 0; tile < 6; ++tile) {
    for (uint16_t lanes = 0; lanes < 2; ++lanes) {
      EXPECT_EQ(schedule::find_genome(sketches_[0], trace_of({tile, lanes})),
                (Genome{{tile, lanes}}));
    }
  }
  EXPECT_EQ(schedule::find_genome(sketches_[0], {}), std::nullopt);
}

TEST(Encoded, AppendsAndDrops) {
  const Encoded three{.width = 2, .values = {1, 2, 3, 4, 5, 6}, .begin = {0, 2, 2, 3}};
  Encoded some;
  some.append(three, 2, 3);
  some.append(three, 0, 2);
  EXPECT_EQ(some, (Encoded{.width = 2, .values = {5, 6, 1, 2, 3, 4}, .begin = {0, 1, 3, 3}}));
  some.drop_first(1);
  EXPECT_EQ(some, (Encoded{.width = 2, .values = {1, 2, 3, 4}, .begin = {0, 2, 2}}));
}

}  // namespace
}  // namespace tilewright::feature
