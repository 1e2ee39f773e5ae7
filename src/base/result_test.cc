#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tilewright {
namespace {

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return fail(ErrorKind::BadInput, "odd");
  return std::make_unique<int>(value / 2);
}

Status even(int value) {
  TRY(half(value));
  return {};
}

Result<std::string> quarter(int value) {
  const std::unique_ptr<int> first = TRY(half(value));
  TRY(even(*first));
  return std::to_string(*TRY(half(*TRY(half(value)))));
}

TEST(Try, YieldsTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(12), Result<std::string>("3"));
  EXPECT_EQ(quarter(6).error(), (Error{ErrorKind::BadInput, "odd"}));
  EXPECT_EQ(quarter(7).error().message, "odd");
}

}  // namespace
}  // namespace tilewright
