// Verbs for whole models, on an operator as a model of one kernel: the meaning of their flags, and
// that none is silently ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>

#include "app/npy.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/run_testing.h"
#include "record/record_testing.h"
#include "target/machine.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kWhat = "matmul:m=8,n=8,k=8,constant=none";
constexpr const char* kPacked = "matmul:m=8,n=8,k=8,constant=B";

class ModelFlags : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  // A library for one thread.
  std::string library() {
    const Outcome made =
        tilewright({"compile", kWhat, "-o", path("m.so"), "--records", "none", "--threads", "1"});
    EXPECT_EQ(made.code, 0) << made.err;
    return path("m.so");
  }

  void expect_refused(const std::vector<std::string>& words, const std::string& part) {
    const Outcome ran = tilewright(words);
    EXPECT_EQ(ran.code, 2) << testing::PrintToString(words);
    EXPECT_THAT(ran.err, HasSubstr(part)) << testing::PrintToString(words);
  }

  record::testing::ScratchFolder folder_;
};

TEST_F(ModelFlags, NamesAreSymbols) {
  const std::vector<std::string> words = {"compile", kWhat, "-o", path("m.so"), "--name"};
  const auto with = [&](const std::string& name) {
    std::vector<std::string> all = words;
    all.push_back(name);
    return all;
  };
  expect_refused(with("1bad"), "name '1bad': symbols consist of letters, digits and underscores");
  expect_refused(with(""), "--name: it is empty");
}

TEST_F(ModelFlags, UntunedTasksAreAnErrorObjectUnderRequireTuned) {
  const Outcome ran = tilewright(
      {"compile", kWhat, "-o", path("m.so"), "--records", "none", "--require-tuned", "--json"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("1 of 1 task without a record in none"));
  const Json error = parse_json(ran.out).value().at("error");
  EXPECT_EQ(error.at("kind"), "not_tuned");
  EXPECT_THAT(error.at("message").get<std::string>(),
              HasSubstr("1 of 1 task without a record in none"));
  ASSERT_EQ(error.at("untuned").size(), 1U);
  EXPECT_THAT(error.at("untuned")[0].at("title").get<std::string>(), HasSubstr("matmul"));
}

TEST_F(ModelFlags, CompiledModelsRejectFlagsThatDoNotApply) {
  const std::string so = library();
  for (const std::string verb : {"run", "bench"}) {
    expect_refused({verb, so, "--input-shapes", "x:[1]"}, "--input-shapes is not for a compiled");
    expect_refused({verb, so, "--target", "x86-64-v3"}, "--target is not for a compiled");
    expect_refused({verb, so, "--records", "none"}, "--records is not for a compiled");
    expect_refused({verb, so, "--passes-off", "cse"}, "--passes-off is not for a compiled");
    expect_refused({verb, so, "--allow", "winograd"}, "--allow is not for a compiled");
  }
  expect_refused({"bench", so, "--onnx", "m.onnx"}, "--onnx needs --peers");
  expect_refused({"tasks", so}, "is already compiled");
  EXPECT_EQ(tilewright({"run", so, "--random", "1"}).code, 0);
}

TEST_F(ModelFlags, ThreadsAreThoseOfTheInstance) {
  const std::string so = library();
  for (const int threads : {1, 2}) {
    const Outcome ran = tilewright(
        {"bench", so, "--threads", std::to_string(threads), "--seconds", "0.01", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(parse_json(ran.out)->at("threads"), threads);
  }
  const Outcome ran = tilewright({"bench", so, "--seconds", "0.01"});
  EXPECT_THAT(ran.out, HasSubstr(" on 1 thread: "));
}

TEST_F(ModelFlags, SeveralCompiledModelsAlternate) {
  const std::string so = library(), other = path("other.so");
  ASSERT_EQ(tilewright({"compile", kWhat, "-o", other, "--records", "none", "--threads", "2"}).code,
            0);
  const Outcome ran = tilewright({"bench", so, other, so, "--seconds", "0.01", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::vector<std::string> names;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const Result<Json> json = parse_json(line);
    ASSERT_TRUE(json) << line;
    names.push_back(json->at("model"));
    EXPECT_GT(json->at("p25_ns"), 0);
    EXPECT_EQ(json->at("steps_low_ns").size(), 1U);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"m", "other", "m"}));
  expect_refused({"bench", so, kWhat}, "is not a compiled model");
  expect_refused({"bench", so, other, "--peers", "openvino"}, "peers are compared with one model");
}

TEST_F(ModelFlags, NamedRecordsFileMustExist) {
  const std::string typo = path("typo.db");
  expect_refused({"tasks", kWhat, "--records", typo}, "typo.db: there is no such file");
  expect_refused({"graph", kWhat, "--records", typo}, "typo.db: there is no such file");
  expect_refused({"run", kWhat, "--records", typo}, "typo.db: there is no such file");
  expect_refused({"bench", kWhat, "--records", typo}, "typo.db: there is no such file");
  expect_refused({"compile", kWhat, "-o", path("m.so"), "--records", typo},
                 "typo.db: there is no such file");
  const Outcome ran = tilewright({"tasks", kWhat, "--records", "none"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\n1 task, 0 with a record"));
}

TEST_F(ModelFlags, OperatorsAndModels) {
  const std::string so = path("m.so");
  expect_refused({"compile", kWhat, "-o", so, "--input-shapes", "x:[1]"},
                 "no passes (--input-shapes)");
  expect_refused({"compile", kWhat, "-o", so, "--passes-off", "cse"}, "no passes (--passes-off)");
  expect_refused({"compile", kWhat, "-o", so, "--allow", "winograd"}, "its algorithm (--allow)");
  expect_refused({"compile", kWhat, "-o", so, "--constant", "B=b.npy"},
                 "1 constants are given, but " + std::string(kWhat) + " has 0 (--constant)");
  expect_refused(
      {"compile", "m.onnx", "-o", so, "--constant", "B=b.npy"},
      "m.onnx has its constants in it: only an operator's are given by files (--constant)");
  expect_refused({"compile", kPacked, "-o", so}, "(--constant B=FILE.npy)");
}

TEST_F(ModelFlags, UnknownPermissionsAreRejected) {
  for (const std::string verb : {"tasks", "graph", "run", "bench", "tune"}) {
    expect_refused({verb, "m.onnx", "--allow", "winograd,luck"},
                   "there is no permission 'luck'; there are winograd and denormals (--allow)");
  }
  for (const std::string verb : {"tasks", "tune", "run"}) {
    expect_refused({verb, kWhat, "--allow", "luck"}, "there is no permission 'luck'");
  }
  expect_refused({"measure", kWhat, "--random", "1", "--allow", "luck"},
                 "there is no permission 'luck'");
  expect_refused({"tasks", "m.onnx", "--allow", ""}, "--allow");
}

TEST_F(ModelFlags, InputsAreGivenOnceAndByName) {
  const std::string so = library();
  expect_refused({"run", so, "--input", "A=" + path("a.npy"), "--input", "A=" + path("b.npy")},
                 "given twice");
  expect_refused({"run", so, "--input", "A="}, "no file name");
}

TEST_F(ModelFlags, PeersAreCheckedFirst) {
  expect_refused({"bench", path("m.so"), "--peers", "foo"}, "'foo' is not a peer");
  expect_refused({"bench", path("m.so"), "--peers", "openvino,"}, "'' is not a peer");
  expect_refused({"bench", path("m.so"), "--peers", "openvino"}, "--onnx FILE.onnx");
  expect_refused({"bench", path("m.so"), "--peers", "openvino", "--onnx", path("gone.onnx")},
                 "gone.onnx: there is no such file");
}

TEST_F(ModelFlags, UnwritableOutputIsReportedFirst) {
  // The constant is missing, too: that error would be reported later.
  expect_refused({"compile", kPacked, "-o", path("nowhere/m.so")}, "nowhere/m.so");
  ASSERT_TRUE(write_file_atomically(path("file"), "").has_value());
  expect_refused({"run", library(), "--random", "1", "--output", path("file/out")},
                 "cannot make the folder");
}

TEST_F(ModelFlags, CompilesForOtherMachines) {
  const Outcome made = tilewright({"compile", kWhat, "-o", path("other.so"), "--target",
                                   "x86-64-v4:avx512bf16,avx512fp16", "--records", "none"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(std::filesystem::exists(path("other.so")));
  for (const char* verb : {"tasks", "graph"}) {
    EXPECT_EQ(tilewright({verb, kWhat, "--target", "x86-64-v4:avx512fp16"}).code, 0);
    expect_refused({verb, kWhat, "--target", "x86-64-v2"}, "needs avx2");
  }
  expect_refused({"compile", kPacked, "-o", path("m.so"), "--target", "x86-64-v2"}, "needs avx2");
}

TEST_F(ModelFlags, WeightsAreEmbeddedOrExternal) {
  const std::string bytes(sizeof(float) * 64, '\0');
  const graph::TensorType type{.element = ir::Scalar::F32, .shape = {8, 8}};
  ASSERT_TRUE(app::write_npy(path("b.npy"), type, bytes).has_value());
  for (const std::string kind : {"external", "beside"}) {  // the second is the older form
    const Outcome made = tilewright({"compile", kPacked, "-o", path(kind + ".so"), "--constant",
                                     "B=" + path("b.npy"), "--weights", kind});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(std::filesystem::exists(path(kind + ".weights"))) << kind;
  }
  expect_refused({"compile", kPacked, "-o", path("m.so"), "--weights", "inside"}, "external");
}

// By value, of a compiled model and of an operator compiled in memory.
TEST_F(ModelFlags, DenormalsAreZerosUnlessTheyAreAllowed) {
  const std::string what = "elementwise:shape=8x8,chain=scale(0.5)";
  const std::vector<float> x(64, std::numeric_limits<float>::min());
  std::string bytes(sizeof(float) * x.size(), '\0');
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const graph::TensorType type{.element = ir::Scalar::F32, .shape = {8, 8}};
  ASSERT_TRUE(app::write_npy(path("x.npy"), type, bytes).has_value());
  std::set<std::string> keys;
  for (const bool kept : {false, true}) {
    const auto with = [&](std::vector<std::string> words) {
      if (kept) words.insert(words.end(), {"--allow", "denormals"});
      return words;
    };
    const std::string so = path(kept ? "kept.so" : "zero.so");
    ASSERT_EQ(tilewright(with({"compile", what, "-o", so, "--records", "none"})).code, 0);
    const std::vector<std::string> input = {"--input", "X=" + path("x.npy"), "--json"};
    std::vector<std::string> library = {"run", so};
    std::vector<std::string> memory = with({"run", what, "--records", "none"});
    for (std::vector<std::string>* const words : {&library, &memory}) {
      words->insert(words->end(), input.begin(), input.end());
      const Outcome ran = tilewright(*words);
      ASSERT_EQ(ran.code, 0) << ran.err;
      EXPECT_EQ(parse_json(ran.out)->at("largest").get<double>(),
                kept ? std::numeric_limits<float>::min() / 2 : 0)
          << ran.out;
    }
    const Outcome tasks = tilewright(with({"tasks", what, "--records", "none", "--json"}));
    keys.insert(parse_json(tasks.out)->at("task").get<std::string>());
  }
  EXPECT_EQ(keys.size(), 2U);
}

TEST_F(ModelFlags, NanIsReported) {
  const std::string so = library();
  std::vector<float> a(64, 1);
  a[0] = std::numeric_limits<float>::quiet_NaN();
  std::string bytes(sizeof(float) * a.size(), '\0');
  std::memcpy(bytes.data(), a.data(), bytes.size());
  const graph::TensorType type{.element = ir::Scalar::F32, .shape = {8, 8}};
  ASSERT_TRUE(app::write_npy(path("a.npy"), type, bytes).has_value());
  const std::vector<std::string> words = {"run",      so, "--input", "A=" + path("a.npy"),
                                          "--random", "1"};
  EXPECT_THAT(tilewright(words).out, HasSubstr(", 8 of 64 NaN"));
  std::vector<std::string> in_json = words;
  in_json.emplace_back("--json");
  EXPECT_EQ(parse_json(tilewright(in_json).out)->at("nans"), 8);
}

}  // namespace
}  // namespace tilewright::cli
