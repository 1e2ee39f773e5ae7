// The encodings of a program that TaskTuner makes for its models.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "feature/program_encoder.h"
#include "schedule/program_hash.h"
#include "search/genome_hash.h"
#include "tune/custom_parts.h"
#include "tune/fake_trials_testing.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {
namespace {

TEST(TaskTuner, LearnsFromOtherEncodings) {
  TaskTunerOptions options = quick_options();
  options.cost = *options.tables.models.parse("xgboost:encoding=knobs");
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  for (int round = 0; round < 2; ++round) play(tuner, trials);
  EXPECT_EQ(tuner.model_name(), "xgboost");
  const cost::Samples& samples = tuner.samples();
  // The default schedule is of no sketch: it has no knobs.
  EXPECT_GE(samples.size() + 1, trials.measured.size());
  EXPECT_EQ(samples.inputs[0].rows(), samples.size());
  // Any other encoding can be computed from the traces of samples.
  const Task task = small_task();
  const Machine machine = detect_machine();
  const std::vector<std::string> both = {"knobs", "features"};
  auto encoder = feature::ProgramEncoder::make({.task = &task,
                                                .machine = &machine,
                                                .initial = &tuner.space().initial(),
                                                .sketches = tuner.space().sketches()},
                                               both);
  ASSERT_TRUE(encoder) << encoder.error().message;
  feature::Inputs again;
  for (const std::string& text : samples.trace) {
    ASSERT_TRUE(encoder->append(*schedule::trace_from_text(text), &again)) << text;
  }
  EXPECT_EQ(again[0], samples.inputs[0]);
  EXPECT_EQ(again[1].programs(), samples.size());
}

// One number per program.
class OneNumber : public feature::Encoder {
 public:
  explicit OneNumber(int version) : version_(version) {}
  size_t width() const override { return 1; }
  int version() const override { return version_; }
  bool compares_across_tasks() const override { return true; }

 private:
  bool do_append(const feature::ProgramView&, feature::Encoded* out) override {
    out->values.push_back(1);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
  int version_;
};

feature::EncodingRow one_number(int version) {
  return make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
      "one_number", "always 1", NoOptions{},
      [version](const feature::EncodingContext&, const NoOptions&) {
        return std::make_unique<OneNumber>(version);
      });
}

// The number of steps, `width` times.
class Steps : public OneNumber {
 public:
  Steps(int version, size_t width) : OneNumber(version), width_(width) {}
  size_t width() const override { return width_; }

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    const auto steps = static_cast<float>(program.trace->steps.size());
    out->values.insert(out->values.end(), width_, steps);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
  size_t width_;
};

feature::EncodingRow steps_encoding(int version, size_t width = 1) {
  return make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
      "steps", "the number of steps", NoOptions{},
      [version, width](const feature::EncodingContext&, const NoOptions&) {
        return std::make_unique<Steps>(version, width);
      });
}

// 1 where the genome of the program is known, otherwise 0.
class HasGenome : public OneNumber {
 public:
  HasGenome() : OneNumber(1) {}

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    const bool is_known =
        program.genome != nullptr && program.sketch != feature::ProgramView::kNoSketch;
    out->values.push_back(is_known ? 1 : 0);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
};

// Whichever model chose it, a candidate is encoded by its own genome: several may have its trace.
TEST(TaskTuner, CandidatesAreEncodedByGenome) {
  TaskTunerOptions options = quick_options();
  options.tables.encodings.add(
      make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
          "has_genome", "0 or 1", NoOptions{},
          [](const feature::EncodingContext&, const NoOptions&) {
            return std::make_unique<HasGenome>();
          }));
  options.cost = *options.tables.models.parse("xgboost:encoding=has_genome");
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  EXPECT_EQ(play(tuner, trials).model, "analytic");  // reads other numbers
  const std::vector<float>& values = tuner.samples().inputs[0].values;
  ASSERT_EQ(values.size(), 24U);
  EXPECT_EQ(std::ranges::count(values, 1), 23);  // the default schedule is of no sketch
}

// Counts how often each genome is encoded. Several genomes may make one program.
class Counting : public OneNumber {
 public:
  explicit Counting(std::map<Hash128, int>* times) : OneNumber(1), times_(times) {}
  feature::EncodedFrom encoded_from() const override { return feature::EncodedFrom::Program; }

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    if (program.genome != nullptr) {
      ++(*times_)[search::genome_hash(program.sketch, *program.genome)];
    }
    out->values.push_back(static_cast<float>(program_hash(*program.tree).low % 1000));
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
  std::map<Hash128, int>* times_;
};

struct CountedSearch {
  std::vector<Hash128> measured;
  size_t again = 0;          // as reported
  size_t encoded_again = 0;  // as counted by the encoding
};

// A search with a memory limit, with or without the analytic model as its first guide.
CountedSearch counted_search(std::optional<size_t> bytes, bool has_guide) {
  std::map<Hash128, int> times;
  TaskTunerOptions options = quick_options();
  options.kept_bytes = bytes;
  if (!has_guide) options.tables.encodings = feature::EncodingTable("encoding", {});
  options.tables.encodings.add(
      make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
          "counting", "a number of the program", NoOptions{},
          [&times](const feature::EncodingContext&, const NoOptions&) {
            return std::make_unique<Counting>(&times);
          }));
  options.cost = *options.tables.models.parse("xgboost:encoding=counting");
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  CountedSearch result;
  for (int round = 0; round < 5; ++round) result.again += play(tuner, trials).applied_again;
  EXPECT_EQ(tuner.model_name(), "xgboost");
  for (const auto& [genome, count] : times) {
    result.encoded_again += static_cast<size_t>(count - 1);
  }
  result.measured = trials.measured;
  return result;
}

// Later rounds return to programs of earlier ones.
TEST(TaskTuner, CachedProgramsAreAppliedOnce) {
  for (const bool has_guide : {true, false}) {
    const CountedSearch all = counted_search({}, has_guide);
    EXPECT_EQ(all.again, 0U);
    EXPECT_EQ(all.encoded_again, 0U);
    const CountedSearch enough = counted_search(size_t{24} << 20, has_guide);
    EXPECT_EQ(enough.again, 0U);
    EXPECT_EQ(enough.encoded_again, 0U);
    // The fastest and their neighbors at least.
    const CountedSearch some = counted_search(size_t{1} << 20, has_guide);
    const CountedSearch none = counted_search(0, has_guide);
    // A program that is applied again may have been encoded for another of its genomes.
    EXPECT_GE(none.again, none.encoded_again);
    EXPECT_GT(none.encoded_again, 100U);
    EXPECT_LT(some.encoded_again, none.encoded_again / 10);
    for (const CountedSearch* less : {&enough, &some, &none}) {
      EXPECT_EQ(less->measured, all.measured);
    }
  }
}

// A caller's table may lack the encoding that the analytic model reads: then no model guides first.
TEST(TaskTuner, NoModelGuidesIfTheAnalyticEncodingIsMissing) {
  TaskTunerOptions options = quick_options();
  options.tables.encodings = feature::EncodingTable("encoding", {one_number(1)});
  options.cost = *options.tables.models.parse("xgboost:encoding=one_number");
  TaskTuner tuner = make_tuner(options);
  EXPECT_EQ(tuner.model(), nullptr);
  FakeTrials trials;
  const RoundReport first = play(tuner, trials);
  EXPECT_EQ(first.model, "none");
  EXPECT_EQ(first.tried, 24U);
  EXPECT_TRUE(play(tuner, trials).complete);
  // It is another search than that with the guide.
  TaskTunerOptions guided = quick_options();
  guided.tables.encodings.add(one_number(1));
  guided.cost = options.cost;
  EXPECT_NE(hash_for(options), hash_for(guided));
  // A model that was requested is an error.
  options.cost = {.name = "analytic"};
  const auto refused = TaskTuner::make(small_task(), detect_machine(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "analytic: there is no encoding 'features'; there are one_number");
}

// A file is for tasks for which the numbers that its model reads mean the same.
TEST(TaskTuner, ModelFromAFileUsesItsEncoding) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-file-").value();
  const auto error_with = [&](const char* cost, int version_now, size_t width_now) -> std::string {
    TaskTunerOptions options = quick_options();
    options.tables.encodings.add(steps_encoding(1));
    options.cost = *options.tables.models.parse(cost);
    TaskTuner first = make_tuner(options);
    FakeTrials trials;
    for (int round = 0; round < 2; ++round) play(first, trials);
    const std::string path = folder / "a.model";
    CHECK(write_file_atomically(path, first.model()->file_text().value()).has_value());
    options.tables.encodings = feature::encodings();
    options.tables.encodings.add(steps_encoding(version_now, width_now));
    Result<BaseModel> base = load_base_model(path, options.cost, options.tables.models);
    if (!base) return base.error().message;
    options.base = std::make_shared<const BaseModel>(std::move(*base));
    const auto second = TaskTuner::make(small_task(), detect_machine(), options);
    const std::vector<Task> tasks = {small_task()};
    const Result<Hash128> hash = hash_of_custom_parts(options, tasks, detect_machine());
    if (!hash) {
      EXPECT_EQ(hash.error().message, second.error().message);
    }
    return second ? std::string(second->model_name()) : second.error().message;
  };
  EXPECT_EQ(error_with("xgboost:encoding=steps", 1, 1), "xgboost");
  EXPECT_EQ(error_with("xgboost:encoding=steps", 2, 1),
            "the trees read rows of 1 numbers of the encoding steps, version 1; here the rows have "
            "1 numbers, version 2: train the model again");
  EXPECT_EQ(error_with("xgboost:encoding=steps", 1, 3),
            "the trees read rows of 1 numbers of the encoding steps, version 1; here the rows have "
            "3 numbers, version 1: train the model again");
  EXPECT_EQ(error_with("xgboost:encoding=knobs", 1, 1),
            "the cost model xgboost:encoding=knobs cannot start from a file: its encoding of a "
            "program has a meaning within one task only");
}

TEST(TaskTuner, TheEncodingThatTheModelReadsIsInTheHash) {
  const auto encoded = [](const char* cost, int version) {
    TaskTunerOptions options;
    options.tables.encodings.add(one_number(version));
    options.cost = *options.tables.models.parse(cost);
    return hash_for(options);
  };
  const Hash128 plain = hash_for({});
  EXPECT_EQ(encoded("xgboost", 1), plain);  // it reads features
  EXPECT_EQ(encoded("xgboost:encoding=features:", 1), plain);
  EXPECT_EQ(encoded("xgboost", 2), plain);
  EXPECT_EQ(encoded("xgboost:encoding=one_number", 1), encoded("xgboost:encoding=one_number", 1));
  EXPECT_NE(encoded("xgboost:encoding=one_number", 1), encoded("xgboost:encoding=one_number", 2));
}

// 1, for programs with a reduction.
class HasReduction : public OneNumber {
 public:
  HasReduction() : OneNumber(1) {}

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    const auto is_reduction = [](const schedule::LoopVar& loop) {
      return loop.kind == schedule::IterKind::Reduce;
    };
    if (std::ranges::none_of(program.tree->vars, is_reduction)) return false;
    out->values.push_back(1);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
};

// A model whose encodings represent no program of a task does not predict for that task.
TEST(TaskTuner, AnEncodingMayRepresentSomeTasksOnly) {
  TaskTunerOptions options = quick_options();
  options.tables.encodings.add(
      make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
          "has_reduction", "1", NoOptions{}, [](const feature::EncodingContext&, const NoOptions&) {
            return std::make_unique<HasReduction>();
          }));
  options.cost = *options.tables.models.parse("xgboost:encoding=has_reduction");
  const Task product = small_task();
  const Task map = {.workload = *parse_workload("elementwise:shape=640,chain=relu"),
                    .target = product.target};
  const auto hash = [&](const std::vector<Task>& tasks) {
    return hash_of_custom_parts(options, tasks, detect_machine());
  };
  EXPECT_TRUE(hash({product}));
  EXPECT_EQ(hash({map, product}), hash({product}));
  EXPECT_EQ(hash({product, map}), hash({product}));
  const auto none = hash({map});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(none.error().message,
            "the cost model xgboost:encoding=has_reduction can read no program of this run: its "
            "encodings represent none of 2000 random programs per task");
}

// Reads the given encodings.
class Reader : public cost::CostModel {
 public:
  explicit Reader(std::vector<std::string> encodings) : encodings_(std::move(encodings)) {}
  std::vector<std::string> encodings() const override { return encodings_; }
  bool learns() const override { return true; }
  Status train(const cost::Samples& samples) override {
    trained_ = samples.size();
    return {};
  }
  bool is_trained() const override { return trained_ > 0; }
  void predict(const feature::Inputs& inputs, const cost::Predictions& out) const override {
    ASSERT_EQ(inputs.size(), encodings_.size());
    for (size_t k = 0; k < out.mean.size(); ++k) {
      out.mean[k] = static_cast<float>(inputs.back().begin[k] * 7919 % 1009);
    }
  }

 private:
  std::vector<std::string> encodings_;
  size_t trained_ = 0;
};

TEST(TaskTuner, AModelReadsOneOrSeveralEncodingsEachOnce) {
  const auto options_of = [](const std::vector<std::string>& encodings) {
    TaskTunerOptions options = quick_options();
    options.tables.models.add(make_row<std::unique_ptr<cost::CostModel>, cost::ModelContext>(
        "reader", "reads encodings", NoOptions{},
        [encodings](const cost::ModelContext&, const NoOptions&) {
          return std::make_unique<Reader>(encodings);
        }));
    options.cost = {.name = "reader"};
    return options;
  };
  const std::vector<std::vector<std::string>> orders = {{"features", "knobs"},
                                                        {"knobs", "features"}};
  for (const std::vector<std::string>& order : orders) {
    TaskTuner tuner = make_tuner(options_of(order));
    FakeTrials trials;
    for (int round = 0; round < 2; ++round) {  // fewer than learn_from samples before them
      EXPECT_EQ(play(tuner, trials).model, "analytic");
    }
    for (int round = 0; round < 3; ++round) {
      const RoundReport report = play(tuner, trials);
      EXPECT_EQ(report.model, "reader");
      EXPECT_EQ(report.applied_again, 0U);
    }
    EXPECT_EQ(tuner.samples().inputs.size(), 2U);
  }
  const auto error_of = [&](const std::vector<std::string>& encodings) {
    const auto tuner = TaskTuner::make(small_task(), detect_machine(), options_of(encodings));
    return tuner ? "" : tuner.error().message;
  };
  EXPECT_EQ(error_of({}), "reader: names no encoding of a program");
  EXPECT_EQ(error_of({"knobs", "knobs"}), "reader: names the encoding knobs twice");
}

}  // namespace
}  // namespace tilewright::tune
