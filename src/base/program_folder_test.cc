#include "base/program_folder.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(ProgramFolder, ContainsThisTest) {
  const Result<std::filesystem::path> folder = program_folder();
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_TRUE(std::filesystem::exists(*folder / "tilewright_base_test"));
}

}  // namespace
}  // namespace tilewright
