#include "task/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "task/suite.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ParseWorkload, AcceptsOperatorsAndSuiteNames) {
  const auto by_name = parse_workload("C2D2");
  const auto by_text = parse_workload(
      "conv2d:n=1,h=14,w=14,ci=256,co=256,kernel=3,stride=1,pad=1,dilation=1,groups=1");
  ASSERT_TRUE(by_name.has_value()) << by_name.error().message;
  ASSERT_TRUE(by_text.has_value()) << by_text.error().message;
  EXPECT_EQ(by_name->key(), by_text->key());
  EXPECT_EQ(by_name->text, "C2D2");
}

TEST(ParseWorkload, AcceptsPermissions) {
  const FloatPermissions strict{.reassociate = false, .contract = false};
  EXPECT_EQ(parse_workload("C2D2", strict)->permissions, strict);
  EXPECT_EQ(parse_workload("softmax:m=4,n=8", strict)->permissions, strict);
}

TEST(ParseWorkload, Mistakes) {
  struct Mistake {
    const char* text;
    ErrorKind kind;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"C2D22", ErrorKind::BadInput, "neither an operator nor a name of the suite; did you mean"},
      {"conv2", ErrorKind::BadInput, "did you mean conv2d"},
      {"", ErrorKind::BadInput, "'' is neither"},
      {"conv2d", ErrorKind::BadInput, "conv2d needs parameter h"},
      {"convd:h=3", ErrorKind::BadInput, "no operator 'convd'; did you mean conv2d"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto workload = parse_workload(mistake.text);
    ASSERT_FALSE(workload.has_value()) << mistake.text;
    EXPECT_EQ(workload.error().kind, mistake.kind) << mistake.text;
    EXPECT_THAT(workload.error().message, HasSubstr(mistake.message));
  }
}

// Every workload of the suite, and each operator with more than a sum in it, travels as a Dag.
TEST(ParseWorkload, AcceptsADag) {
  std::vector<std::string> texts = {"conv2d_winograd:h=8,w=8,ci=4,co=4", "softmax:m=4,n=8",
                                    "matmul:m=7,n=5,k=3,dtype=bf16", "matmul:m=8,n=8,k=8,dtype=i8"};
  for (const SuiteRow& row : suite_rows()) texts.push_back(row.name);
  for (const std::string& text : texts) {
    const auto workload = parse_workload(text);
    ASSERT_TRUE(workload.has_value()) << text;
    std::vector<std::string> constants;
    for (const Operand& operand : workload->operands) {
      if (operand.role == Role::Constant) {
        constants.push_back(workload->dag->tensor(operand.tensor).name.text());
      }
    }
    const Workload made = dag_workload(workload->dag, constants, workload->permissions);
    const auto back = parse_workload(made.text, made.permissions);
    ASSERT_TRUE(back.has_value()) << text << ": " << back.error().message;
    EXPECT_EQ(back->key(), workload->key()) << text;
    EXPECT_EQ(back->text, made.text);
    EXPECT_EQ(back->dag->to_string(), workload->dag->to_string());
  }
}

TEST(ParseWorkload, MistakesInADag) {
  EXPECT_FALSE(parse_workload("dag:").has_value());
  EXPECT_FALSE(parse_workload("dag:{}").has_value());
  EXPECT_THAT(parse_workload(R"(dag:{"ops":[],"constants":[]})").error().message,
              StartsWith("not a Dag: it computes nothing"));
  EXPECT_THAT(parse_workload(R"(dag:{"ops":[{}],"constants":[]})").error().message,
              StartsWith("not a Dag: ops[0]: no member 'name'"));
  const auto matmul = parse_workload("matmul:m=7,n=5,k=3");
  std::string text = dag_workload(matmul->dag, {}).text;
  text.replace(text.find("[]"), 2, "[\"Q\"]");
  EXPECT_THAT(parse_workload(text).error().message, HasSubstr("not an input"));
}

TEST(ParseWorkload, PartsAreStoredWithTheDag) {
  const auto matmul = parse_workload("matmul:m=7,n=5,k=3");
  const Workload plain = dag_workload(matmul->dag, {});
  const Workload part =
      dag_workload(matmul->dag, {}, {}, {{.tensor = "C", .extents = {7, 20}, .alignment = 16}});
  EXPECT_EQ(plain.key(), matmul->key());
  EXPECT_NE(part.key(), plain.key());
  EXPECT_EQ(part.operands[2].storage().to_string(), "[d0:7, d1:20]");
  EXPECT_TRUE(part.operands[2].is_part());
  EXPECT_FALSE(part.operands[0].is_part());
  const auto back = parse_workload(part.text);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->key(), part.key());
  EXPECT_EQ(back->operands[2].alignment, 16);
}

TEST(ParseWorkload, WinogradPermissionIsStoredWithTheDag) {
  const auto conv = parse_workload("conv2d_winograd:h=6,w=6,ci=3,co=4,pad=1,weight=transformed");
  ASSERT_TRUE(conv->permissions.winograd);
  const Workload made = dag_workload(conv->dag, {"W"}, conv->permissions);
  const auto back = parse_workload(made.text);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->permissions, conv->permissions);
  EXPECT_EQ(back->key(), conv->key());
  const std::string without = dag_workload(conv->dag, {"W"}).text;
  EXPECT_FALSE(parse_workload(without)->permissions.winograd);
  const std::string wrong = without.substr(0, without.size() - 1) + ",\"winograd\":1}";
  EXPECT_THAT(parse_workload(wrong).error().message, HasSubstr("neither true nor false"));
}

TEST(ParseWorkload, DenormalsPermissionIsParsed) {
  const FloatPermissions kept{.denormals = true};
  for (const char* text : {"matmul:m=7,n=5,k=3", "C2D2"}) {
    const auto usual = parse_workload(text), keeping = parse_workload(text, kept);
    EXPECT_FALSE(usual->permissions.denormals);
    EXPECT_TRUE(keeping->permissions.denormals);
    EXPECT_NE(usual->key(), keeping->key());
    EXPECT_EQ(usual->text, keeping->text);
  }
  const auto matmul = parse_workload("matmul:m=7,n=5,k=3", kept);
  const Workload made = dag_workload(matmul->dag, {}, kept);
  EXPECT_EQ(parse_workload(made.text)->key(), made.key());
  EXPECT_THAT(made.text, HasSubstr("\"denormals\":true"));
  EXPECT_THAT(dag_workload(matmul->dag, {}).text, Not(HasSubstr("denormals")));
}

TEST(ParseWorkload, MistakesInParts) {
  const auto matmul = parse_workload("matmul:m=7,n=5,k=3");
  const std::string text = dag_workload(matmul->dag, {"B"}).text;
  const auto with = [&](const std::string& parts) {
    return parse_workload(text.substr(0, text.size() - 1) + ",\"parts\":" + parts + "}");
  };
  EXPECT_TRUE(with(R"({"C":[[7,5],64]})").has_value());
  const std::pair<const char*, const char*> mistakes[] = {
      {"[]", "parts should be an object, such as {"},
      {R"({"C":[7,5]})", "a list of extents"},
      {R"({"C":[["x"],64]})", "a list of extents"},
      {R"({"Q":[[7,5],64]})", "not an input or output"},
      {R"({"B":[[3,5],64]})", "not an input or output"},
      {R"({"C":[[7],64]})", "not a part of"},
      {R"({"C":[[7,4],64]})", "not a part of"},
      {R"({"C":[[7,9000000000000000000],64]})", "not a part of"},
      {R"({"C":[[7,8],48]})", "power of two"},
      {R"({"C":[[7,8],128]})", "power of two"},
  };
  for (const auto& [parts, said] : mistakes) {
    const auto workload = with(parts);
    ASSERT_FALSE(workload.has_value()) << parts;
    EXPECT_THAT(workload.error().message, HasSubstr(said)) << parts;
  }
}

// Naming Winograd's algorithm permits its rounding.
TEST(Parse, WinogradImpliesItsPermission) {
  EXPECT_TRUE(parse_workload("conv2d_winograd:h=8,w=8,ci=4,co=4")->permissions.winograd);
  EXPECT_FALSE(parse_workload("conv2d:h=8,w=8,ci=4,co=4,kernel=3")->permissions.winograd);
}

}  // namespace
}  // namespace tilewright
