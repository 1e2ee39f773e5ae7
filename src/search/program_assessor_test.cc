#include "search/program_assessor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/rng.h"
#include "feature/program_encoder.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "search/program_cache.h"
#include "space/space.h"
#include "space/validity.h"
#include "space/variation.h"
#include "task/parse.h"

namespace tilewright::search {
namespace {

const std::vector<std::string> kFeatures = {"features"}, kKnobs = {"knobs"};
constexpr float kNoScore = std::numeric_limits<float>::lowest();

// The score of a program is the sum of its rows times a factor, with a weight per encoding.
class SumModel : public cost::CostModel {
 public:
  explicit SumModel(float factor) : factor_(factor) {}
  std::vector<std::string> encodings() const override { return names; }
  bool learns() const override { return false; }
  Status train(const cost::Samples&) override { return {}; }
  bool is_trained() const override { return true; }
  bool has_spread() const override { return factor_ < 0; }
  void predict(const feature::Inputs& inputs, const cost::Predictions& out) const override {
    ASSERT_EQ(inputs.size(), names.size());
    for (size_t k = 0; k < inputs[0].programs(); ++k) {
      float sum = 0;
      for (const feature::Encoded& rows : inputs) {
        sum *= 7;  // the order matters
        for (size_t v = rows.begin[k] * rows.width; v < rows.begin[k + 1] * rows.width; ++v) {
          sum += rows.values[v];
        }
      }
      out.mean[k] = factor_ * sum;
      if (has_spread()) out.spread[k] = sum / 2;
    }
    predicted += inputs[0].programs();
  }

  std::vector<std::string> names = kFeatures;

  mutable std::atomic<size_t> predicted = 0;

 private:
  float factor_;
};

struct Bench {
  explicit Bench(std::string_view text)
      : task{parse_workload(text).value(), parse_target("x86-64-v4;threads=2").value()},
        space(space::Space::make(task).value()),
        initial(space.initial()),
        sketches(space.sketches()),
        machine(detect_machine()) {}

  // Random ones and a few generations of mutants, with copies among them.
  std::vector<Candidate> candidates(size_t count, uint64_t seed) const {
    Rng rng(seed);
    std::vector<Candidate> result;
    while (result.size() < count) {
      Candidate candidate;
      if (result.size() < count / 4) {
        candidate.sketch = static_cast<uint16_t>(rng.below(sketches.size()));
        candidate.genome = schedule::sample(sketches[candidate.sketch], rng);
      } else {
        candidate = result[rng.below(result.size())];
        if (rng.chance(0.9)) {
          space::mutate(sketches[candidate.sketch], &candidate.genome, rng);
        }
      }
      result.push_back(candidate);
    }
    return result;
  }

  schedule::Trace trace_of(const Candidate& candidate) const {
    schedule::Trace trace;
    schedule::instantiate(sketches[candidate.sketch], candidate.genome, &trace);
    return trace;
  }
  feature::ProgramEncoder encoder(const std::string& name) const {
    const std::vector<std::string> names = {name};
    return feature::ProgramEncoder::make(
               {.task = &task, .machine = &machine, .initial = &initial, .sketches = sketches},
               names)
        .value();
  }

  // Without any memory and short cuts.
  Hash128 program_of(const Candidate& candidate) const {
    schedule::Trace trace;
    schedule::LoopTree tree;
    schedule::instantiate(sketches[candidate.sketch], candidate.genome, &trace);
    if (schedule::apply(initial, trace, &tree)) return {};
    const space::Validity validity(task, initial, machine);
    if (validity.check(tree) != space::RejectReason::No) return {};
    return program_hash(tree);
  }

  Task task;
  space::Space space;
  const schedule::LoopTree& initial;
  std::span<const schedule::Sketch> sketches;
  Machine machine;
};

size_t distinct_programs(std::span<const Candidate> candidates) {
  std::set<Hash128> programs;
  for (const Candidate& candidate : candidates) {
    if (candidate.program != Hash128{}) programs.insert(candidate.program);
  }
  return programs.size();
}

size_t distinct_genomes(std::span<const Candidate> candidates) {
  std::set<Hash128> genomes;
  for (const Candidate& one : candidates) genomes.insert(genome_hash(one.sketch, one.genome));
  return genomes.size();
}

TEST(ProgramAssessor, FindsTheProgramOfEachCandidate) {
  for (const char* text : {"C2D2", "matmul:m=64,n=100,k=96", "softmax:m=300,n=130"}) {
    const Bench bench(text);
    ProgramAssessor assessor(bench.space, bench.machine, 2);
    size_t fit = 0;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      std::vector<Candidate> candidates = bench.candidates(500, seed);
      assessor.assess(candidates);
      for (const Candidate& candidate : candidates) {
        ASSERT_EQ(candidate.program, bench.program_of(candidate)) << text;
        fit += candidate.program != Hash128{} ? 1 : 0;
        EXPECT_EQ(candidate.score, candidate.program == Hash128{} ? kNoScore : 0);
      }
    }
    EXPECT_GT(fit, 100u) << text;
    EXPECT_EQ(assessor.counts().requested, 1000);
  }
}

TEST(ProgramAssessor, DoesNotDependOnThreads) {
  const Bench bench("C2D2");
  const SumModel model(1);
  std::vector<std::vector<Candidate>> answers;
  std::vector<AssessorCounts> counts;
  for (const int threads : {1, 2, 5}) {
    ProgramAssessor assessor(bench.space, bench.machine, threads);
    assessor.set_model(&model);
    std::vector<Candidate> all;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<Candidate> candidates = bench.candidates(400, seed);
      assessor.assess(candidates);
      if (seed == 2) assessor.set_model(&model);  // all programs are scored again
      assessor.assess(candidates);
      all.insert(all.end(), candidates.begin(), candidates.end());
    }
    answers.push_back(all);
    counts.push_back(assessor.counts());
  }
  for (size_t k = 1; k < answers.size(); ++k) {
    for (size_t c = 0; c < answers[0].size(); ++c) {
      ASSERT_EQ(answers[k][c].program, answers[0][c].program);
      ASSERT_EQ(answers[k][c].score, answers[0][c].score);
    }
    EXPECT_EQ(counts[k].illegal, counts[0].illegal);
    EXPECT_EQ(counts[k].rejected, counts[0].rejected);
    EXPECT_EQ(counts[k].known, counts[0].known);
    EXPECT_EQ(counts[k].scored, counts[0].scored);
  }
}

TEST(ProgramAssessor, PredictsEachProgramOnce) {
  const Bench bench("C2D2");
  const SumModel model(1);
  ProgramAssessor assessor(bench.space, bench.machine, 1);
  assessor.set_model(&model);
  std::vector<Candidate> candidates = bench.candidates(500, 1);
  assessor.assess(candidates);
  const size_t programs = distinct_programs(candidates);
  EXPECT_EQ(model.predicted, programs);
  EXPECT_EQ(assessor.counts().scored, static_cast<int64_t>(programs));

  std::vector<Candidate> again = candidates;
  for (Candidate& candidate : again) candidate.score = 17;
  assessor.assess(again);
  EXPECT_EQ(model.predicted, programs);
  for (size_t k = 0; k < again.size(); ++k) EXPECT_EQ(again[k].score, candidates[k].score);

  // Another model: the same encodings, new scores.
  const SumModel other(2);
  assessor.set_model(&other);
  assessor.assess(again);
  EXPECT_EQ(other.predicted, programs);
  for (size_t k = 0; k < again.size(); ++k) {
    if (again[k].program == Hash128{}) continue;
    EXPECT_EQ(again[k].score, 2 * candidates[k].score);
  }

  assessor.set_model(nullptr);
  assessor.assess(again);
  for (const Candidate& candidate : again) {
    EXPECT_EQ(candidate.score, candidate.program == Hash128{} ? kNoScore : 0);
  }
}

TEST(ProgramAssessor, CachesEncodings) {
  const Bench bench("C2D2");
  const SumModel model(1);
  ProgramAssessor assessor(bench.space, bench.machine, 2);
  std::vector<Candidate> candidates = bench.candidates(300, 1);
  assessor.assess(candidates);  // without a model nothing is encoded
  feature::Inputs made, kept;
  EXPECT_FALSE(assessor.inputs_of(candidates.front(), kFeatures, &kept));
  assessor.set_model(&model);
  EXPECT_FALSE(assessor.inputs_of(candidates.front(), kFeatures, &kept));
  assessor.assess(candidates);
  feature::ProgramEncoder encoder = bench.encoder("features");
  for (const Candidate& candidate : candidates) {
    const bool is_fit = candidate.program != Hash128{};
    EXPECT_EQ(assessor.inputs_of(candidate, kFeatures, &kept), is_fit);
    if (is_fit) {
      EXPECT_TRUE(encoder.append(bench.trace_of(candidate), &made));
    }
  }
  EXPECT_EQ(kept, made);
  candidates.front().program = {1, 2};
  EXPECT_FALSE(assessor.inputs_of(candidates.front(), kFeatures, &kept));
}

// Genomes of one program have one encoding where it follows from the program, and their own where
// it follows from the trace.
TEST(ProgramAssessor, GenomesOfOneProgramHaveSeparateKnobs) {
  const Bench bench("matmul:m=64,n=100,k=96");
  SumModel features(1), knobs(1);
  knobs.names = {"knobs"};
  for (const int threads : {1, 2}) {
    ProgramAssessor assessor(bench.space, bench.machine, threads);
    std::vector<Candidate> candidates = bench.candidates(3000, 1);
    assessor.set_model(&features);
    assessor.assess(candidates);
    assessor.set_model(&knobs);
    std::vector<Candidate> by_knobs = candidates;
    assessor.assess(by_knobs);
    feature::ProgramEncoder encoder = bench.encoder("knobs");
    std::map<Hash128, size_t> first;
    size_t differing = 0;
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (candidates[k].program == Hash128{}) continue;
      feature::Inputs kept, made;
      ASSERT_TRUE(assessor.inputs_of(by_knobs[k], kKnobs, &kept));
      const schedule::Trace trace = bench.trace_of(candidates[k]);
      ASSERT_TRUE(encoder.append({.tree = nullptr,
                                  .trace = &trace,
                                  .sketch = candidates[k].sketch,
                                  .genome = &candidates[k].genome},
                                 &made));
      ASSERT_EQ(kept, made);
      EXPECT_EQ(by_knobs[k].score, cost::scores_of(knobs, made)[0]);
      const size_t twin = first.try_emplace(candidates[k].program, k).first->second;
      EXPECT_EQ(candidates[k].score, candidates[twin].score);
      differing += by_knobs[k].score != by_knobs[twin].score ? 1 : 0;
    }
    EXPECT_GT(differing, 0U);
    // Cached encodings are scored again with the same result.
    assessor.set_model(&knobs);
    std::vector<Candidate> again = candidates;
    assessor.assess(again);
    for (size_t k = 0; k < again.size(); ++k) EXPECT_EQ(again[k].score, by_knobs[k].score);
  }
}

TEST(ProgramAssessor, ComputesTheEncodingOfTheModel) {
  const Bench bench("C2D2");
  const SumModel features(1);
  SumModel knobs(1);
  knobs.names = {"knobs"};
  ProgramAssessor assessor(bench.space, bench.machine, 2);
  std::vector<Candidate> candidates = bench.candidates(300, 1);
  assessor.set_model(&features);
  assessor.assess(candidates);
  const std::vector<Candidate> by_features = candidates;
  assessor.set_model(&knobs);
  EXPECT_EQ(assessor.encodings(), std::vector<std::string>{"knobs"});
  assessor.assess(candidates);
  const std::vector<Candidate> by_knobs = candidates;
  feature::Inputs inputs;
  for (const Candidate& candidate : candidates) {
    if (candidate.program == Hash128{}) continue;
    EXPECT_TRUE(assessor.inputs_of(candidate, kKnobs, &inputs));
  }
  EXPECT_EQ(inputs.at(0).rows(), inputs.at(0).programs());  // one row each
  // Back to the first model: encodings are computed again, with the same scores.
  assessor.set_model(&features);
  assessor.assess(candidates);
  size_t differing = 0;
  for (size_t k = 0; k < candidates.size(); ++k) {
    EXPECT_EQ(candidates[k].program, by_features[k].program);
    EXPECT_EQ(candidates[k].score, by_features[k].score);
    differing += by_knobs[k].score != by_features[k].score ? 1 : 0;
  }
  EXPECT_GT(differing, 100U);
}

// Whichever model guides, programs are encoded for the one that learns, and stay encoded for it.
TEST(ProgramAssessor, EncodingsOfAnotherModelAreKept) {
  const Bench bench("C2D2");
  const SumModel features(1);
  SumModel knobs(1);
  knobs.names = {"knobs"};
  const std::vector<Candidate> candidates = bench.candidates(300, 1);
  ProgramAssessor plain(bench.space, bench.machine, 2);
  const auto assessed = [&](ProgramAssessor& assessor) {
    std::vector<Candidate> result = candidates;
    assessor.assess(result);
    return result;
  };
  plain.set_model(&features);
  const std::vector<Candidate> by_features = assessed(plain);
  plain.set_model(&knobs);
  const std::vector<Candidate> by_knobs = assessed(plain);
  EXPECT_GT(plain.counts().again, 100);  // nothing was encoded for it
  const SumModel* const none = nullptr;
  for (const SumModel* guide : {&features, none}) {
    ProgramAssessor assessor(bench.space, bench.machine, 2);
    assessor.set_model(guide, kKnobs);
    const std::vector<Candidate> guided = assessed(assessor);
    feature::Inputs rows, numbers;
    for (size_t k = 0; k < guided.size(); ++k) {
      EXPECT_EQ(guided[k].program, by_features[k].program);
      const float score = guided[k].program == Hash128{} ? kNoScore : 0;
      EXPECT_EQ(guided[k].score, guide == nullptr ? score : by_features[k].score);
      if (guided[k].program == Hash128{}) continue;
      EXPECT_EQ(assessor.inputs_of(guided[k], kFeatures, &rows), guide != nullptr);
      EXPECT_TRUE(assessor.inputs_of(guided[k], kKnobs, &numbers));
    }
    assessor.set_model(&knobs, kKnobs);
    const std::vector<Candidate> learned = assessed(assessor);
    for (size_t k = 0; k < learned.size(); ++k) EXPECT_EQ(learned[k].score, by_knobs[k].score);
    EXPECT_EQ(assessor.counts().again, 0);
    EXPECT_FALSE(assessor.inputs_of(learned[0], kFeatures, &rows));  // no longer made
  }
}

TEST(ProgramAssessor, AModelMayReadSeveralEncodings) {
  const Bench bench("C2D2");
  const std::vector<Candidate> candidates = bench.candidates(300, 1);
  const SumModel guide(1);
  for (const std::vector<std::string>& names : {std::vector<std::string>{"features", "knobs"},
                                                std::vector<std::string>{"knobs", "features"}}) {
    SumModel model(1), next(2);
    model.names = next.names = names;
    ProgramAssessor assessor(bench.space, bench.machine, 2);
    const auto assess_all = [&](const SumModel& by) {
      std::vector<Candidate> all = candidates;
      assessor.set_model(&by, names);
      assessor.assess(all);
      for (const Candidate& one : all) {
        if (one.program == Hash128{}) continue;
        feature::Inputs inputs;
        EXPECT_TRUE(assessor.inputs_of(one, by.names, &inputs));
        EXPECT_EQ(one.score, cost::scores_of(by, inputs)[0]);
      }
    };
    // All programs are scored again, whichever model comes next.
    for (const SumModel* by : {&guide, &guide, &std::as_const(model), &std::as_const(next), &guide,
                               &std::as_const(model)}) {
      assess_all(*by);
    }
    EXPECT_EQ(assessor.counts().again, 0);
  }
}

// After a round: the reported programs and the first ones of the round, within the memory limit.
TEST(ProgramAssessor, ShrinkKeepsReportedAndFirstPrograms) {
  const Bench bench("C2D2");
  const SumModel model(1), next(2);
  const std::vector<Candidate> first = bench.candidates(60, 1);
  const std::vector<Candidate> later = bench.candidates(300, 2);
  const auto again_after = [&](size_t bytes, size_t reported,
                               const std::vector<Candidate>& requested) {
    ProgramAssessor assessor(bench.space, bench.machine, 2);
    assessor.set_model(&model);
    std::vector<Candidate> before = first, rest = later;
    assessor.begin_round();
    assessor.assess(before);
    assessor.assess(rest);
    assessor.set_model(&next);
    assessor.shrink(bytes, std::span(rest).last(reported));
    std::vector<Candidate> all = requested;
    assessor.assess(all);
    for (const Candidate& one : all) {
      EXPECT_EQ(one.program, bench.program_of(one));
      if (one.program == Hash128{}) continue;
      feature::Inputs inputs;
      EXPECT_TRUE(assessor.inputs_of(one, kFeatures, &inputs));
      EXPECT_EQ(one.score, cost::scores_of(next, inputs)[0]);
    }
    return assessor.counts().again;
  };
  constexpr size_t kPlenty = size_t{100} << 20;
  std::vector<Candidate> fit = first;
  ProgramAssessor(bench.space, bench.machine, 2).assess(fit);
  std::erase_if(fit, [](const Candidate& one) { return one.program == Hash128{}; });
  const size_t few = distinct_programs(fit), fit_genomes = distinct_genomes(fit);
  EXPECT_EQ(again_after(kPlenty, 0, first), 0);
  EXPECT_EQ(again_after(kPlenty, 0, later), 0);
  // Enough for the first ones and some more.
  const size_t some = (few + 10) * 164 * 4 * 6;
  EXPECT_EQ(again_after(some, 0, first), 0);
  EXPECT_GT(again_after(some, 0, later), 0);
  EXPECT_EQ(again_after(some, 5, {later.end() - 5, later.end()}), 0);
  EXPECT_EQ(again_after(0, 0, first), static_cast<int64_t>(fit_genomes));
}

// The number of steps of programs that have an even one.
class EvenSteps : public feature::Encoder {
 public:
  size_t width() const override { return 1; }
  int version() const override { return 1; }
  bool compares_across_tasks() const override { return true; }

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    const size_t steps = program.trace->steps.size();
    if (steps % 2 != 0) return false;
    out->values.push_back(static_cast<float>(steps));
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
};

// The encodings of Tilewright, and one that cannot represent all programs.
feature::EncodingTable with_even_steps() {
  feature::EncodingTable table = feature::encodings();
  table.add(make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
      "even_steps", "of some programs", NoOptions{},
      [](const feature::EncodingContext&, const NoOptions&) {
        return std::make_unique<EvenSteps>();
      }));
  return table;
}

// A program that one encoding cannot represent is fit for a model that does not read that encoding.
TEST(ProgramAssessor, ProgramsRejectedByAnEncodingAreScoredByOtherModels) {
  const Bench bench("C2D2");
  const feature::EncodingTable table = with_even_steps();
  const SumModel features(1);
  SumModel even(1);
  even.names = {"even_steps"};
  const std::vector<Candidate> candidates = bench.candidates(300, 1);
  const auto assessed = [&](ProgramAssessor& assessor, const cost::CostModel* model) {
    std::vector<Candidate> result = candidates;
    assessor.set_model(model);
    assessor.assess(result);
    return result;
  };
  const auto programs = [](std::span<const Candidate> all) {
    std::vector<Hash128> hashes;
    for (const Candidate& one : all) hashes.push_back(one.program);
    return hashes;
  };
  ProgramAssessor fresh(bench.space, bench.machine, 2, table);
  const std::vector<Candidate> expected = assessed(fresh, &features);
  ProgramAssessor assessor(bench.space, bench.machine, 2, table);
  const std::vector<Candidate> fewer = assessed(assessor, &even);
  ASSERT_NE(programs(fewer), programs(expected));
  EXPECT_EQ(programs(assessed(assessor, nullptr)), programs(expected));
  EXPECT_EQ(programs(assessed(assessor, &even)), programs(fewer));
  const std::vector<Candidate> after = assessed(assessor, &features);
  EXPECT_EQ(programs(after), programs(expected));
  for (size_t k = 0; k < after.size(); ++k) EXPECT_EQ(after[k].score, expected[k].score);
}

// Only the encodings of the model that guides reject: those of a model that learns do not, until it
// guides.
TEST(ProgramAssessor, OnlyTheEncodingsOfTheGuideReject) {
  const Bench bench("C2D2");
  const feature::EncodingTable table = with_even_steps();
  const std::vector<std::string> learned = {"even_steps"};
  const SumModel features(1);
  SumModel even(1);
  even.names = learned;
  const std::vector<Candidate> candidates = bench.candidates(300, 1);
  ProgramAssessor plain(bench.space, bench.machine, 2, table);
  plain.set_model(&features);
  std::vector<Candidate> expected = candidates;
  plain.assess(expected);
  ProgramAssessor assessor(bench.space, bench.machine, 2, table);
  const SumModel* const none = nullptr;
  for (const SumModel* guide :
       {none, &features, &std::as_const(even), none, &std::as_const(even), &features}) {
    assessor.set_model(guide, learned);
    std::vector<Candidate> all = candidates;
    assessor.assess(all);
    size_t odd = 0, rejected = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      if (expected[k].program == Hash128{}) continue;
      const bool is_even = bench.trace_of(all[k]).steps.size() % 2 == 0;
      const bool is_fit = is_even || guide != &even;
      odd += is_even ? 0 : 1;
      rejected += is_fit ? 0 : 1;
      ASSERT_EQ(all[k].program, is_fit ? expected[k].program : Hash128{});
      if (guide == &features) {
        EXPECT_EQ(all[k].score, expected[k].score);
      }
      feature::Inputs inputs;
      EXPECT_EQ(assessor.inputs_of(all[k], learned, &inputs), is_even);
      if (guide == &even && is_even) {
        EXPECT_EQ(all[k].score, cost::scores_of(even, inputs)[0]);
      }
    }
    EXPECT_GT(odd, 10U);
    EXPECT_EQ(rejected, guide == &even ? odd : 0);
  }
}

TEST(ProgramAssessor, SpreadsComeWithScores) {
  const Bench bench("C2D2");
  const SumModel sure(1), unsure(-1), other(-2);
  ProgramAssessor assessor(bench.space, bench.machine, 2);
  std::vector<Candidate> candidates = bench.candidates(200, 1);
  for (const SumModel* model : {&sure, &unsure, &other}) {  // the third scores what is remembered
    assessor.set_model(model);
    assessor.assess(candidates);
    const float factor = model == &sure ? 0.0F : model == &unsure ? -0.5F : -0.25F;
    for (const Candidate& candidate : candidates) {
      const bool fit = candidate.program != Hash128{};
      EXPECT_EQ(candidate.spread, fit ? factor * candidate.score : 0);
    }
  }
}

TEST(ProgramAssessor, AcceptsNoCandidates) {
  const Bench bench("matmul:m=64,n=64,k=64");
  ProgramAssessor assessor(bench.space, bench.machine, 2);
  assessor.assess({});
  EXPECT_EQ(assessor.counts().requested, 0);
}

constexpr size_t kFirst[] = {0};

TEST(ProgramCache, DropsOldBlocksFirst) {
  constexpr size_t kWidth = 164;
  ProgramCache cache(100 * kWidth * sizeof(float), 1000);
  std::vector<BlockSlot> places;
  for (int block = 0; block < 60; ++block) {
    auto made = cache.new_block();
    made->inputs.resize(1);
    feature::Encoded& rows = made->inputs[0];
    rows.width = kWidth;
    for (int k = 0; k < 4; ++k) {
      rows.values.insert(rows.values.end(), kWidth, static_cast<float>(4 * block + k));
      rows.begin.push_back(static_cast<uint32_t>(k + 1));
    }
    const uint32_t number = cache.add_block(std::move(made));
    places.push_back({.block = number, .slot = 3});
    cache.trim();
    feature::Inputs inputs;
    ASSERT_TRUE(cache.append_inputs(places.back(), kFirst, &inputs));
    EXPECT_EQ(inputs[0].values.back(), static_cast<float>(4 * block + 3));
    EXPECT_EQ(inputs[0].programs(), 1u);
  }
  EXPECT_EQ(cache.block_of(places.front()), nullptr);
  EXPECT_NE(cache.block_of(places[50]), nullptr);
  EXPECT_EQ(cache.block_of(BlockSlot{}), nullptr);
  cache.drop_blocks();
  EXPECT_EQ(cache.block_of(places.back()), nullptr);
}

TEST(ProgramCache, KeepsTheGivenPrograms) {
  const auto filled = [](ProgramCache& cache, size_t programs) {
    std::vector<CacheKeys> all;
    for (size_t k = 0; k < programs; ++k) {
      auto block = cache.new_block();
      block->inputs.resize(2);
      for (feature::Encoded& encoded : block->inputs) {
        encoded.width = 100;
        encoded.values.assign(100, static_cast<float>(all.size()));
        encoded.begin.push_back(1);
      }
      all.push_back({.genome = {1, k + 1}, .entry = {2, k + 1}});
      cache.genomes.insert(all.back().genome).first->program = all.back().entry;
      cache.programs.insert(all.back().entry).first->place = {
          .block = cache.add_block(std::move(block)), .slot = 0};
    }
    return all;
  };
  const auto has = [](const ProgramCache& cache, const CacheKeys& keys, float value) {
    const KnownProgram* const program = cache.programs.find(keys.entry);
    feature::Inputs inputs;
    if (program == nullptr || !cache.append_inputs(program->place, kFirst, &inputs)) return false;
    EXPECT_EQ(inputs[0].values.front(), value);
    return true;
  };
  {
    ProgramCache cache(10'000, 1000);  // half of them
    const std::vector<CacheKeys> all = filled(cache, 20);
    cache.trim(std::span(all).first(2));
    for (const size_t k : {0, 1, 19}) EXPECT_TRUE(has(cache, all[k], static_cast<float>(k)));
    EXPECT_FALSE(has(cache, all[2], 2));
    EXPECT_EQ(cache.genomes.size(), 20U);
  }
  {
    // A block of which most is kept stays as it is, between blocks that are dropped.
    ProgramCache cache(10'000, 1000);
    const std::vector<CacheKeys> all = filled(cache, 20);
    const CacheKeys keep[] = {all[4], all[2]};
    const float* const values =
        cache.block_of(cache.programs.find(all[4].entry)->place)->inputs[0].values.data();
    cache.trim(keep);
    cache.trim(keep);
    for (const size_t k : {2, 4, 19}) EXPECT_TRUE(has(cache, all[k], static_cast<float>(k)));
    for (const size_t k : {0, 1, 3, 5}) EXPECT_FALSE(has(cache, all[k], static_cast<float>(k)));
    EXPECT_EQ(cache.block_of(cache.programs.find(all[4].entry)->place)->inputs[0].values.data(),
              values);
  }
  for (const bool is_large : {false, true}) {
    ProgramCache cache;
    const std::vector<CacheKeys> all = filled(cache, 20);
    for (uint64_t k = 1; is_large && k < 50'000; ++k) cache.genomes.insert({3, k});
    const CacheKeys keep[] = {all[7], all[3], all[7]};
    cache.shrink(2000, keep);
    for (size_t k = 0; k < 20; ++k) {
      EXPECT_EQ(has(cache, all[k], static_cast<float>(k)), k == 3 || k == 7) << k;
    }
    EXPECT_EQ(cache.genomes.size(), is_large ? 2U : 20U);
  }
  // Some of the encodings.
  ProgramCache cache;
  const std::vector<CacheKeys> all = filled(cache, 3);
  const size_t second[] = {1};
  cache.select(second);
  EXPECT_TRUE(has(cache, all[2], 2));
  EXPECT_EQ(cache.block_of({.block = 0, .slot = 0})->inputs.size(), 1U);
}

TEST(ProgramCache, GenomesHaveDistinctHashes) {
  std::set<Hash128> hashes;
  for (uint16_t sketch = 0; sketch < 3; ++sketch) {
    for (uint16_t a = 0; a < 20; ++a) {
      hashes.insert(genome_hash(sketch, {{a}}));
      for (uint16_t b = 0; b < 20; ++b) hashes.insert(genome_hash(sketch, {{a, b, 0, 0, 1}}));
    }
  }
  EXPECT_EQ(hashes.size(), 3u * (20 + 400));
}

TEST(HashTable, FindsInsertedKeys) {
  HashTable<int> table;
  EXPECT_EQ(table.find({1, 1}), nullptr);
  for (uint64_t k = 1; k <= 5000; ++k) {
    const auto [value, is_new] = table.insert({k, k * 1024});
    ASSERT_TRUE(is_new);
    *value = static_cast<int>(k);
  }
  EXPECT_EQ(table.size(), 5000u);
  for (uint64_t k = 1; k <= 5000; ++k) {
    const int* value = table.find({k, k * 1024});
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, static_cast<int>(k));
  }
  EXPECT_FALSE(table.insert({7, 7 * 1024}).second);
  EXPECT_EQ(table.find({5001, 0}), nullptr);
  table.clear();
  EXPECT_EQ(table.find({7, 7 * 1024}), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace tilewright::search
