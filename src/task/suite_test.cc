#include "task/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TEST(Suite, IsTheFileOfTheRepository) {
  const auto text = read_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "bench/suite.json");
  ASSERT_TRUE(text.has_value());
  const auto json = parse_json(*text);
  ASSERT_TRUE(json.has_value());
  const Json& rows = *find_member(*json, "workloads");
  ASSERT_EQ(rows.size(), suite_rows().size());
  EXPECT_EQ(suite_rows()[6].name, "C2D2");
}

// The FLOP that the suite counts: those of a convolution, without its epilogue.
double counted_flop(const SuiteRow& row, const te::Dag& dag) {
  if (row.op != "conv2d_bias_bn_relu") return dag.flop();
  return dag.flop(dag.find_op(Name("C")).value());
}

TEST(Suite, EveryRowBuildsWithTheFlopOfTheFile) {
  for (const SuiteRow& row : suite_rows()) {
    const auto workload = suite_workload(row.name);
    ASSERT_TRUE(workload.has_value()) << workload.error().message;
    EXPECT_EQ(counted_flop(row, *workload->dag), row.flop) << row.name;
    EXPECT_EQ(workload->text, row.name);
  }
}

TEST(Suite, OutputShapesAgreeWithTheFile) {
  const auto text = read_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "bench/suite.json");
  const Json json = parse_json(*text).value();
  int checked = 0;
  for (const Json& row : *find_member(json, "workloads")) {
    if (!row["params"].contains("out_spatial")) continue;
    const auto workload = suite_workload(row["name"].get<std::string>());
    ASSERT_TRUE(workload.has_value()) << workload.error().message;
    const te::Tensor& output = workload->dag->tensor(workload->dag->outputs().front());
    const Json& extents = row["params"]["out_spatial"];
    for (size_t d = 0; d < extents.size(); ++d) {
      EXPECT_EQ(output.shape[d + 1].constant(), extents[d].get<int64_t>()) << row["name"];
    }
    ++checked;
  }
  EXPECT_EQ(checked, 36);  // every convolution
}

TEST(Suite, TheSuffixMultipliesTheBatch) {
  const auto conv = suite_workload("C2D2.b16");
  ASSERT_TRUE(conv.has_value()) << conv.error().message;
  EXPECT_EQ(conv->dag->flop(), 16 * 231211008.0);
  EXPECT_EQ(conv->text, "C2D2.b16");
  EXPECT_EQ(suite_workload("C2D2.b1")->key(), suite_workload("C2D2")->key());
  EXPECT_EQ(suite_workload("GMM2.b4")->dag->tensor(0).shape[0].constant(), 4);
  EXPECT_EQ(suite_workload("SFM0.b2")->dag->tensor(0).shape[0].constant(), 512);
  const auto matmul = suite_workload("MM.128x768x3072.b2");
  ASSERT_FALSE(matmul.has_value());
  EXPECT_THAT(matmul.error().message, HasSubstr("has no batch"));
}

TEST(Suite, ConstantsAreThoseOfTheFile) {
  const auto matmul = suite_workload("MM.128x768x3072");
  EXPECT_EQ(matmul->operands[0].role, Role::Input);
  EXPECT_EQ(matmul->operands[1].role, Role::Constant);
  EXPECT_EQ(suite_workload("GMM2")->operands[1].role, Role::Input);
  EXPECT_EQ(suite_workload("C2D2")->operands[1].role, Role::Constant);
  for (const char* name : {"C1D0", "C3D0", "DEP0", "T2D0", "CAP0"}) {
    const auto conv = suite_workload(name);
    ASSERT_TRUE(conv.has_value()) << conv.error().message;
    EXPECT_EQ(conv->operands[0].role, Role::Input) << name;
    EXPECT_EQ(conv->operands[1].role, Role::Constant) << name;
  }
}

TEST(Suite, UnknownNames) {
  for (const char* name : {"C2D9", "C2D2.b", "C2D2.b0", "C2D2.bx", "C2D2.b99999999999999", ".b2"}) {
    EXPECT_FALSE(is_suite_name(name)) << name;
    EXPECT_FALSE(suite_workload(name).has_value()) << name;
  }
  EXPECT_THAT(suite_workload("C2D9").error().message, HasSubstr("did you mean C2D0 or C2D1"));
  EXPECT_FALSE(suite_workload("C2D2.b2147483647").has_value());  // too large a tensor
}

}  // namespace
}  // namespace tilewright
