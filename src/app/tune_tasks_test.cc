#include "app/tune_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/must_testing.h"
#include "base/temporary_folder.h"
#include "target/machine.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

TEST(TuneTasks, EqualOperandsOfTheCommandAddWeight) {
  const Target target = host_target(1);
  const Result<TuneTasks> what =
      tune_tasks_of({"matmul:m=8,n=8,k=8", "C2D2", "matmul:k=8,m=8,n=8"}, {}, target);
  ASSERT_TRUE(what) << what.error().message;
  ASSERT_EQ(what->tasks.size(), 2U);
  EXPECT_EQ(what->tasks[0].weight, 2);
  EXPECT_EQ(what->names[1], "C2D2");
  EXPECT_FALSE(what->of_model);
  EXPECT_EQ(what->default_trials(), 400);
  const Result<TuneTasks> none = tune_tasks_of({"none.onnx"}, {}, target);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("none.onnx"));
}

TEST(TuneTasks, FilesAndFoldersAreNoMisspelledOperators) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-tune-tasks-").value();
  const auto error = [](const std::string& word) {
    return tune_tasks_of({word}, {}, host_target(1)).error().message;
  };
  EXPECT_EQ(error(folder.path()),
            folder.path().native() + " is a folder, neither a model file nor an operator");
  must(write_file_atomically(folder / "m.pb", "x"));
  EXPECT_EQ(error(folder / "m.pb"),
            (folder / "m.pb").string() + " is a file, but names of models end in .onnx");
  EXPECT_THAT(error("matmull"), HasSubstr("did you mean"));
}

TEST(TuneTasks, OperatorsHaveThePermissionsThatTheyCanHave) {
  const Target target = host_target(1);
  ModelChoice choice;
  const Result<TuneTasks> usual = tune_tasks_of({"matmul:m=8,n=8,k=8"}, choice, target);
  choice.allow = {"denormals"};
  const Result<TuneTasks> kept = tune_tasks_of({"matmul:m=8,n=8,k=8"}, choice, target);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(kept->tasks[0].task.workload.permissions.denormals);
  EXPECT_NE(kept->tasks[0].task.key(), usual->tasks[0].task.key());
  choice.allow = {"denormals", "winograd"};
  const Result<TuneTasks> refused = tune_tasks_of({"matmul:m=8,n=8,k=8"}, choice, target);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("permission winograd is for model files"));
}

TEST(TuneTasks, SmallTasksOfAModelGetFewTrials) {
  TuneTasks what =
      *tune_tasks_of({"matmul:m=512,n=512,k=512", "matmul:m=8,n=8,k=8"}, {}, host_target(1));
  what.of_model = true;
  EXPECT_EQ(what.default_trials(), 224);
}

}  // namespace
}  // namespace tilewright::app
