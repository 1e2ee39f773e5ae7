#include "cli/option_flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/verb.h"

namespace tilewright::cli {
namespace {

TEST(OptionFlags, NamesFollowOptions) {
  EXPECT_EQ(flag_text({"passes_off", ""}), "--passes-off");
  EXPECT_EQ(flag_text({"cost", "xgboost"}), "--cost xgboost");
  EXPECT_EQ(flag_text({"inputs", "x=FILE.npy"}), "--input x=FILE.npy");
  EXPECT_EQ(flag_text({"external_weights", ""}), "--weights external");
}

TEST(OptionFlags, AreQuotedForTheShell) {
  EXPECT_EQ(flag_text({"input_shapes", "x:[1,3];y:[1]"}), "--input-shapes \"x:[1,3];y:[1]\"");
}

TEST(OptionFlags, MessagesNameFlagsOfTheVerb) {
  CLI::App app;
  app.add_option("--traces");
  CLI::App* const part = app.add_subcommand("part");
  part->add_option("--random");
  const Error error{ErrorKind::BadInput, "name schedules", {{"traces", "FILE"}, {"random", "N"}}};
  EXPECT_EQ(message_with_hints(error, app), "name schedules (--traces FILE)");
  app.parse(std::vector<std::string>{"part"});
  EXPECT_EQ(message_with_hints(error, app), "name schedules (--random N)");
  EXPECT_EQ(message_with_hints({ErrorKind::Io, "no room", {}}, app), "no room");
}

// Every option that errors name. A renamed flag would no longer be shown.
TEST(OptionFlags, BecomeFlagsOfAVerb) {
  for (const char* option :
       {"allow", "constants", "cost", "from_model", "input_shapes", "inputs", "latency_targets_us",
        "model_file", "model_finals", "objective", "passes_off", "random", "random_seed", "texts",
        "threads", "trace_file", "traces", "external_weights"}) {
    const Error error{ErrorKind::BadInput, "", {{option, ""}}};
    EXPECT_TRUE(std::ranges::any_of(all_verbs(), [&](const Verb& verb) {
      CLI::App app;
      verb.declare(app);
      return !message_with_hints(error, app).empty();
    })) << option;
  }
}

TEST(Jobs, AreVerbsAfterTheMessage) {
  CLI::App app;
  app.add_option("--trace");
  const Error error{ErrorKind::BadInput,
                    "no id",
                    {{"trace_file", "FILE"}},
                    {{"list_attempts", "C2D2", "lists it"}, {"compile", "", "makes one"}}};
  EXPECT_EQ(message_with_hints(error, app),
            "no id (--trace FILE); `tilewright records ls C2D2` lists it; `tilewright compile` "
            "makes one");
  EXPECT_EQ(job_text({"compile", "matmul:m=1;n=2", "makes one"}),
            "`tilewright compile \"matmul:m=1;n=2\"` makes one");
}

// Every job that errors name. A renamed verb would no longer exist.
TEST(Jobs, HaveAVerbEach) {
  for (const char* job :
       {"check_records", "compile", "export_records", "list_attempts", "list_tasks"}) {
    std::istringstream words(job_text({job, "", ""}));
    std::string program, verb, part;
    words >> program >> verb >> part;
    const auto found = std::ranges::find(all_verbs(), verb.substr(0, verb.find('`')), &Verb::name);
    ASSERT_NE(found, all_verbs().end()) << job;
    if (verb.ends_with('`')) continue;
    CLI::App app;
    found->declare(app);
    EXPECT_NO_THROW(app.get_subcommand(part.substr(0, part.find('`')))) << job;
  }
}

}  // namespace
}  // namespace tilewright::cli
