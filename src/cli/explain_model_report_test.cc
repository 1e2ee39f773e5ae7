#include "cli/explain_model_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "base/temporary_folder.h"
#include "cli/run_testing.h"

namespace tilewright::cli {
namespace {

using app::Remedy;
using testing::HasSubstr;
using testing::Not;

// A model of 100 us that could take 60 us; a kernel of two calls loses most of the rest.
app::ExplainedModel model_of_two_kernels() {
  app::ExplainedKernel kernel;
  kernel.loss = {
      .title = "matmul 8x8x8", .calls = 2, .ns = 75e3, .limit = {.ns = 22.5e3, .what = "L2"}};
  kernel.task = {1, 2};
  kernel.tuned_ns = 30e3;
  kernel.records = {.trials = 24, .attempt = Hash128{3, 4}, .limits = {"It has gaps."}};
  kernel.remedies = {Remedy::TuneLonger, Remedy::Loops};
  app::ExplainedModel model;
  model.name = "small";
  model.threads = model.compiled_threads = 2;
  model.rates = {.gflops = 123.4,
                 .levels = {{.name = "L2", .read_gb_per_s = 80, .copy_gb_per_s = 60},
                            {.name = "memory", .read_gb_per_s = 20, .copy_gb_per_s = 10}}};
  model.run_ns = 100e3;
  model.kernels_ns = 90e3;
  model.limit_ns = 60e3;
  model.lost_ns = 33e3;
  model.kernel_count = 2;
  model.kernels = {kernel};
  return model;
}

TEST(ExplainModelReport, NamesLossesCeilingsAndRemedies) {
  app::ExplainedModel model = model_of_two_kernels();
  const std::string text = explained_model_text(model);
  for (const char* part :
       {"     30 us       75 us   83.3 %    60.0 %  L2          2  matmul 8x8x8\n",
        "The records have only 24 trials of it: tune",
        "`tilewright explain 000000000000` prints its loops", "  It has gaps.\n",
        "30 us  lost in 1 of 2 kernels, 33 us in all\n",
        "123.4 GFLOP/s; GB/s when read (copied): L2 80.0 (60.0), memory 20.0 (10.0)\n",
        "small on 2 threads: a run takes 100 us, its kernels 90 us, their limits 60 us: 60.0 %"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("was compiled for")));
  EXPECT_THAT(text, Not(HasSubstr("less time than the limit")));
  model.compiled_threads = 4;
  model.beyond = 1;
  EXPECT_THAT(explained_model_text(model),
              HasSubstr("It was compiled for 4 threads and ran on 2."));
  EXPECT_THAT(explained_model_text(model), HasSubstr("1 kernel took clearly less time"));
  EXPECT_THAT(explained_model_text(model), HasSubstr("(repeat the command when none are running)"));
}

TEST(ExplainModelReport, IsOneObjectForTheModelAndOnePerKernel) {
  const std::vector<Json> lines = explained_model_json(model_of_two_kernels());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["model"], "small");
  EXPECT_EQ(lines[0]["of_limit"], 0.6);
  EXPECT_EQ(lines[0]["kernels"], 2);
  EXPECT_EQ(lines[0]["levels"][1]["read_gb_per_s"], 20.0);
  EXPECT_EQ(lines[1]["kernel"], "matmul 8x8x8");
  EXPECT_EQ(lines[1]["lost_ns"], 30e3);
  EXPECT_EQ(lines[1]["limit"], "L2");
  EXPECT_EQ(lines[1]["remedies"], Json::array({"tune_longer", "loops"}));
  EXPECT_EQ(lines[1]["limits"][0], "It has gaps.");
}

TEST(ExplainModelReport, HasASentenceForEveryRemedy) {
  const Remedy remedies[] = {Remedy::NothingKnown, Remedy::FewerBytes, Remedy::FewerFlop,
                             Remedy::FewerThreads, Remedy::Fuse,       Remedy::Tune,
                             Remedy::Compile,      Remedy::TuneLonger, Remedy::SlowerThanTuned,
                             Remedy::Loops};
  const app::ExplainedKernel kernel = model_of_two_kernels().kernels[0];
  std::set<std::string> names, sentences;
  for (const Remedy remedy : remedies) {
    names.insert(std::string(text_of(remedy)));
    sentences.insert(advice_on(remedy, kernel, 2));
  }
  EXPECT_EQ(names.size(), std::size(remedies));
  EXPECT_EQ(sentences.size(), std::size(remedies));
  EXPECT_FALSE(names.contains(""));
  EXPECT_FALSE(sentences.contains(""));
  EXPECT_THAT(advice_on(Remedy::SlowerThanTuned, kernel, 2), HasSubstr("1.25 times as long"));
  EXPECT_THAT(advice_on(Remedy::FewerBytes, kernel, 2), HasSubstr("bandwidth of L2"));
}

TEST(ExplainModelVerb, RefusesFlagsOfTheOtherForms) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-explain-").value();
  struct Mistake {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Mistake mistakes[] = {
      {{"explain", "m.so", "--trace", "t.trace"}, "--trace is not for a compiled model"},
      {{"explain", "m.so", "--target", "x86-64-v3"}, "--target is not for a compiled model"},
      {{"explain", "m.so", "--records", (folder / "no.db").string()}, "no.db"},
      {{"explain", (folder / "no.so").string()}, "no.so"},
      {{"explain", "m.onnx"}, "m.onnx is not a compiled model; `tilewright compile m.onnx` makes"},
      {{"explain", "abc", "--input", "x.npy"}, "--input is for a compiled model"},
      {{"explain", "abc", "--random", "2"}, "--random is for a compiled model"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = tilewright(mistake.arguments);
    EXPECT_EQ(outcome.code, 2) << mistake.message;
    EXPECT_EQ(outcome.out, "") << mistake.message;
    EXPECT_THAT(outcome.err, HasSubstr(mistake.message));
  }
}

}  // namespace
}  // namespace tilewright::cli
