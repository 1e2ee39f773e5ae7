#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "cli/run_testing.h"
#include "cli/verb.h"
#include "codegen/back_ends/back_ends.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;

struct Mistake {
  std::vector<std::string> arguments;
  std::string message;  // a part of what err says
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreUsageErrors) {
  const Outcome outcome = tilewright(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Mistakes,
    testing::Values(
        Mistake{{}, "A subcommand is required"},
        Mistake{{"fly"}, "there is no verb 'fly'; the verbs are bench"},
        Mistake{{"doctor", "--wings"}, "--wings"},
        Mistake{{"doctor", "--threads", "two"}, "--threads"},
        Mistake{{"doctor", "--threads", "0"}, "--threads"},
        Mistake{{"doctor", "--seconds", "-1"}, "--seconds"},
        Mistake{{"tune"}, "MODEL_OR_OPERATOR is required"},
        Mistake{{"tune", "resnet50.so"},
                "resnet50.so is already compiled; name its model file, such as resnet50.onnx"},
        Mistake{{"lower", "GMM0", "--threads", "0"},
                "--threads: '0' is not a whole number from 1 to 4096"},
        Mistake{{"lower", "GMM0", "--threads", "4097"},
                "'4097' is not a whole number from 1 to 4096"},
        Mistake{{"lower", "GMM0", "--target", ""}, "--target: it is empty: leave the flag out"},
        Mistake{{"tune", "GMM0", "--trials", "x"}, "'x' is not a whole number from 1 to "},
        Mistake{{"tune", "GMM0", "--records", "none"},
                "name a file, or ./none for a file of that name (--records FILE)"},
        Mistake{{"tasks", "GMM0", "--records", ""}, "the name of the store of records is empty"},
        Mistake{{"lower", "GMM0", "--threads", "2", "--target", "x86-64-v3;threads=2"},
                "already sets the threads"},
        Mistake{{"lower", "GMM0", "--disable-pass", "vectorise"}, "there is no pass 'vectorise'"},
        Mistake{{"lower", "GMM0", "--disable-pass", "flatten"}, "without the pass flatten"},
        Mistake{{"lower", "GMM0", "--trace", "/dev/zero"}, "more than 16777216 bytes"},
        Mistake{{"measure", "GMM0"}, "(--traces FILE, --random N)"},
        Mistake{{"measure", "GMM0", "--random", "0"}, "--random"},
        Mistake{{"measure", "GMM0", "--random", "2", "--seconds", "nan"}, "'nan' is not a number"},
        Mistake{{"measure", "GMM0", "--random", "2", "--seed", "-1"}, "--seed"},
        Mistake{{"measure", "GMM0", "--random", "2", "--cache", "hot"}, "hot"},
        Mistake{{"measure", "GMM0", "--traces", "/dev/null"}, "there is no trace in it"},
        Mistake{{"measure", "GMM0", "--random", "2", "--finalists", "100"}, "--finalists"},
        Mistake{{"measure", "GMM0", "--random", "2"}, "no tilewright-build-worker"},
        Mistake{{"replay", "ab", "--records", "/nowhere/records.db"}, "/nowhere/records.db"}));

TEST(Run, MistakesAreObjectsUnderJson) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"fly", "--json"}, {"doctor", "--json", "--wings"}, {"lower", "GMM", "--json"}}) {
    const Outcome outcome = tilewright(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err, "");
    const Result<Json> json = parse_json(outcome.out);
    ASSERT_TRUE(json.has_value()) << outcome.out;
    EXPECT_EQ(json->at("error").at("kind"), "bad_input");
  }
}

// A verb that throws the given exception.
template <class Exception>
Outcome thrown(const std::vector<std::string>& arguments) {
  const Verb verb{.name = "throw", .summary = "", .declare = [](CLI::App&) -> Action {
                    return [](const Context&) -> Result<ExitCode> { throw Exception(); };
                  }};
  std::ostringstream out, err;
  const int code = run(arguments, out, err, {&verb, 1});
  return {code, out.str(), err.str()};
}

TEST(Run, OutOfMemoryIsNotAnInternalError) {
  const std::string message = "out of memory; close other programs, or raise the memory limit";
  const Outcome plain = thrown<std::bad_alloc>({"throw"});
  EXPECT_EQ(plain.code, 2);
  EXPECT_EQ(plain.out, "");
  EXPECT_EQ(plain.err, "tilewright: " + message + "\n");
  const Outcome object = thrown<std::bad_alloc>({"throw", "--json"});
  EXPECT_EQ(object.code, 2);
  EXPECT_EQ(object.err, plain.err);
  const Result<Json> json = parse_json(object.out);
  ASSERT_TRUE(json.has_value()) << object.out;
  EXPECT_EQ(json->at("error"), (Json{{"kind", "no_memory"}, {"message", message}}));
}

TEST(Run, UnexpectedExceptionsAreInternalErrors) {
  const Outcome outcome = thrown<std::bad_function_call>({"throw", "--json"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("internal error, please report it: unexpected exception: "));
  EXPECT_EQ(parse_json(outcome.out)->at("error").at("kind"), "internal");
}

TEST(Run, OutputThatCannotBeWrittenIsAnError) {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  EXPECT_EQ(run({"--version"}, full, err), 2);
  EXPECT_EQ(err.str(), "tilewright: cannot write the output\n");
}

// Any end of the verb: a verb with broken output stops early.
TEST(Run, OutputThatCannotBeWrittenIsAnErrorAfterAStopToo) {
  const Verb verb{.name = "stop", .summary = "", .declare = [](CLI::App&) -> Action {
                    return [](const Context& context) -> Result<ExitCode> {
                      context.out << "some" << std::flush;
                      return ExitCode::Interrupted;
                    };
                  }};
  std::ofstream full("/dev/full");
  std::ostringstream out, err;
  EXPECT_EQ(run({"stop"}, full, err, {&verb, 1}), 2);
  EXPECT_EQ(run({"stop"}, out, err, {&verb, 1}), 130);
}

TEST(Run, TargetWithoutABackEndIsAnError) {
  for (const char* target : {"cuda:sm_90a", "aarch64"}) {
    const Outcome outcome = tilewright({"lower", "GMM0", "--target", target});
    EXPECT_EQ(outcome.code, 2) << target;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("no code is made for " + std::string(target)));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
  EXPECT_EQ(tilewright({"lower", "GMM0", "--last", "--source", "--target", "x86-64-v2"}).code, 0);
}

// A file that `measure --traces` and `explain --trace` read as well.
TEST(Run, LowerReadsAFileOfOneTrace) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-run-").value();
  const std::string file = folder / "a.trace";
  const auto lower = [&](std::string_view text) {
    EXPECT_TRUE(write_file_atomically(file, text).has_value());
    Outcome outcome = tilewright({"lower", "GMM0", "--last", "--trace", file});
    outcome.out = std::regex_replace(outcome.out, std::regex(R"(: [0-9.]+ ms)"), "");
    return outcome;
  };
  const Outcome plain = lower("split C i [4]\n");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(lower("---\nsplit C i [4]\n---\n").out, plain.out);
  const Outcome two = lower("split C i [4]\n---\nsplit C j [4]\n");
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("it has 2 traces, and one is needed"));
}

TEST(Run, LastPrintsOnlyTheLastProgram) {
  const Outcome outcome = tilewright({"lower", "GMM0", "--last", "--json"});
  EXPECT_EQ(outcome.code, 0);
  std::istringstream lines(outcome.out);
  int programs = 0;
  for (std::string line; std::getline(lines, line);) {
    const Result<Json> json = parse_json(line);
    ASSERT_TRUE(json.has_value()) << line;
    programs += json->contains("ir") ? 1 : 0;
  }
  EXPECT_EQ(programs, 1);
}

TEST(Run, SourceIsAHeaderAndAFile) {
  const Outcome outcome = tilewright({"lower", "GMM0", "--last", "--source", "--json"});
  EXPECT_EQ(outcome.code, 0);
  const Result<Json> json = parse_json(outcome.out.substr(outcome.out.rfind("{\"header")));
  ASSERT_TRUE(json.has_value()) << outcome.out;
  EXPECT_THAT(json->at("source").get<std::string>(), HasSubstr("#include \"kernels.h\""));
  EXPECT_THAT(json->at("header").get<std::string>(), HasSubstr("const TilewrightCall* call);"));
}

TEST(Run, TextsOfTheCodeAreNamed) {
  const Outcome both =
      tilewright({"lower", "GMM0", "--last", "--json", "--llvm", "--texts", "assembly,llvm"});
  EXPECT_EQ(both.code, 0) << both.err;
  const Result<Json> json = parse_json(both.out.substr(both.out.rfind("{\"llvm")));
  ASSERT_TRUE(json.has_value()) << both.out;
  EXPECT_THAT(json->at("llvm").get<std::string>(), HasSubstr("define"));
  EXPECT_THAT(json->at("assembly").get<std::string>(), HasSubstr(".globl"));
  EXPECT_THAT(tilewright({"lower", "GMM0", "--texts", "runes"}).err,
              HasSubstr("there are llvm, assembly, header, source (--texts)\n"));
}

TEST(Run, HelpNamesEveryVerb) {
  const Outcome outcome = tilewright({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const Verb& verb : all_verbs()) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string(verb.name)));
    const Outcome help = tilewright({std::string(verb.name), "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("--json"));
    EXPECT_THAT(help.out, HasSubstr("TILEWRIGHT_JSON"));
  }
}

TEST(Run, Version) {
  const Outcome outcome = tilewright({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Run, DoctorPrintsJson) {
  const Outcome outcome = tilewright({"doctor", "--json", "--seconds", "0", "--threads", "2"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("measuring"));
  const Result<Json> json = parse_json(outcome.out);
  ASSERT_TRUE(json.has_value()) << outcome.out;
  EXPECT_THAT(json->at("target").get<std::string>(), HasSubstr(";threads=2"));
  ASSERT_EQ(json->at("limits").size(), 2u);
  for (const Json& limit : json->at("limits")) {
    EXPECT_GT(limit.at("fma_gflops").get<double>(), 0.0);
    EXPECT_GT(limit.at("copy_gb_per_s").get<double>(), 0.0);
  }
  EXPECT_EQ(json->at("back_ends").size(), codegen::all_back_ends().size());
}

TEST(Run, FlagsComeFromTheEnvironmentToo) {
  ::setenv("TILEWRIGHT_JSON", "true", 1);
  ::setenv("TILEWRIGHT_SECONDS", "0", 1);
  ::setenv("TILEWRIGHT_THREADS", "1", 1);
  const Outcome outcome = tilewright({"doctor"});
  ::setenv("TILEWRIGHT_THREADS", "none", 1);
  const Outcome wrong = tilewright({"doctor"});
  const Outcome overridden = tilewright({"doctor", "--threads", "1"});
  ::unsetenv("TILEWRIGHT_JSON");
  ::unsetenv("TILEWRIGHT_SECONDS");
  ::unsetenv("TILEWRIGHT_THREADS");
  EXPECT_EQ(outcome.code, 0);
  const Result<Json> json = parse_json(outcome.out);
  ASSERT_TRUE(json.has_value()) << outcome.out;
  EXPECT_EQ(json->at("limits").size(), 1u);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(overridden.code, 0);
}

TEST(Run, DoctorPrintsText) {
  const Outcome outcome = tilewright({"doctor", "--seconds", "0", "--threads", "1"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::StartsWith("cpu "));
  EXPECT_THAT(outcome.out, HasSubstr("GFLOP/s f32"));
  EXPECT_THAT(outcome.out, HasSubstr("missing "));
}

}  // namespace
}  // namespace tilewright::cli
