#include "te/ops/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/near_names.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Table, EveryRowIsDocumentedAndFound) {
  for (const Operator& op : all_operators()) {
    EXPECT_EQ(find_operator(op.name), &op);
    EXPECT_NE(op.build, nullptr);
    EXPECT_FALSE(op.doc.empty());
    for (const Parameter& parameter : op.parameters) EXPECT_FALSE(parameter.doc.empty());
  }
  EXPECT_EQ(find_operator("nothing"), nullptr);
}

TEST(Table, TextIsCanonicalAndParsesToItself) {
  struct Case {
    const char* text;
    const char* canonical;
  };
  const Case cases[] = {
      {"matmul:k=3,n=02,m=1", "matmul:m=1,n=2,k=3,dtype=f32"},
      {"matmul:m=1,n=2,k=3,constant=weight", "matmul:m=1,n=2,k=3,dtype=f32,constant=B"},
      {"matmul:m=1,n=2,k=3,const=B+A,dtype=bf16", "matmul:m=1,n=2,k=3,dtype=bf16,constant=A+B"},
      {"conv2d:h=4,w=4,ci=2,co=2,kernel=3",
       "conv2d:n=1,h=4,w=4,ci=2,co=2,kernel=3,stride=1,pad=0,dilation=1,groups=1,dtype=f32"},
      {"conv2d:h=4,w=4,ci=2,co=2,kh=3,kw=1,constant=none",
       "conv2d:n=1,h=4,w=4,ci=2,co=2,kh=3,kw=1,stride=1,pad=0,dilation=1,groups=1,dtype=f32,"
       "constant=none"},
      {"layer_norm:n=8,m=4", "layer_norm:m=4,n=8,eps=1e-05,dtype=f32"},
      {"slice:shape=8x09,size=4x9,step=2x-1,begin=0x8",
       "slice:shape=8x9,begin=0x8,size=4x9,step=2x-1,dtype=f32"},
      {"pad:shape=4,before=1,value=0.50",
       "pad:shape=4,before=1,after=0,mode=constant,value=0.5,dtype=f32"},
      {"reduce:op=sum,shape=4x4,axes=-1,keep=0", "reduce:op=sum,shape=4x4,axes=-1,dtype=f32"},
      {"elementwise:shape=4x4,chain=scale(0.5)+add",
       "elementwise:shape=4x4,chain=scale(0.5)+add,"
       "dtype=f32"},
  };
  for (const Case& c : cases) {
    const auto instance = parse_operator(c.text);
    ASSERT_TRUE(instance.has_value()) << instance.error().message;
    EXPECT_EQ(instance->text, c.canonical);
    const auto again = parse_operator(instance->text);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->text, instance->text);
    EXPECT_EQ(again->constants, instance->constants);
    EXPECT_EQ(again->dag->to_string(), instance->dag->to_string());
  }
}

TEST(Table, ConstantsByDefault) {
  EXPECT_THAT(parse_operator("conv2d:h=4,w=4,ci=2,co=2,kernel=3")->constants, ElementsAre("W"));
  EXPECT_THAT(parse_operator("matmul:m=1,n=2,k=3")->constants, IsEmpty());
  EXPECT_THAT(parse_operator("conv2d_bias_bn_relu:h=4,w=4,ci=2,co=2,kernel=3")->constants,
              ElementsAre("W", "bias", "scale", "shift"));
  EXPECT_THAT(parse_operator("elementwise:shape=4,chain=add+bias,constant=B2")->constants,
              ElementsAre("B2"));
}

TEST(Table, MistakesAreExplained) {
  struct Mistake {
    const char* text;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"matmull:m=1", "no operator 'matmull'; did you mean matmul"},
      {"", "no operator ''"},
      {"zzz", "(operators: matmul, batch_matmul, conv2d"},
      {"matmul", "matmul needs parameter m (rows of A and C); its parameters are m, n, k, dtype"},
      {"matmul:", "matmul needs parameter m"},
      {"matmul:m=1,n=2", "needs parameter k"},
      {"matmul:m=1,n=2,k=3,q=4", "matmul has no parameter 'q'"},
      {"conv2d:strid=2", "no parameter 'strid'; did you mean stride?"},
      {"matmul:m=1,n=2,k=3,m=4", "parameter m is given twice"},
      {"matmul:m=1,n=2,k=3,const=A,constant=B", "parameter constant is given twice"},
      {"matmul:m=one,n=2,k=3", "parameter m: 'one' is not a whole number"},
      {"matmul:m=1.5,n=2,k=3", "'1.5' is not a whole number"},
      {"matmul:m=0,n=2,k=3", "0 is out of range; legal are 1 to 2147483647"},
      {"matmul:m=-1,n=2,k=3", "-1 is out of range"},
      {"matmul:m=99999999999999999999,n=2,k=3", "99999999999999999999 is out of range"},
      {"matmul:m=2147483648,n=2,k=3", "2147483648 is out of range"},
      {"matmul:m=2147483647,n=1,k=2147483647", "tensor A of 2147483647x2147483647 is too large"},
      {"matmul:m=1000000,n=1000000,k=1000000", "takes more than 72057594037927936 loop"},
      {"matmul:m,n=2,k=3", "'m' is not of the form key=value"},
      {"matmul:m=,n=2,k=3", "'m=' is not of the form key=value"},
      {"matmul:=1,n=2,k=3", "'=1' is not of the form key=value"},
      {"matmul:m=1,n=2,,k=3", "'' is not of the form key=value"},
      {"matmul:m=1,n=2,k=3,", "ends with a comma"},
      {"matmul:m=1,n=2,k=3,dtype=float", "'float' is not a type; types are f16, bf16, f32"},
      {"matmul:m=1,n=2,k=3,dtype=bool", "dtype bool is not supported"},
      {"matmul:m=1,n=2,k=3,constant=W", "'W' is not an operand that can be constant"},
      {"matmul:m=1,n=2,k=3,constant=C", "(operands: A, B; join several with '+', or say none)"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto instance = parse_operator(mistake.text);
    ASSERT_FALSE(instance.has_value()) << mistake.text;
    EXPECT_THAT(instance.error().message, HasSubstr(mistake.message)) << mistake.text;
  }
}

TEST(NearNames, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("matmul", "MatMul"), 0);
  EXPECT_EQ(edit_distance("sfotmax", "softmax"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(NearNames, NearestFirstWithinALimit) {
  const std::vector<std::string> known = {"conv2d", "conv3d", "matmul", "softmax"};
  EXPECT_THAT(near_names("conv2", known), ElementsAre("conv2d", "conv3d"));
  EXPECT_THAT(near_names("mat", known), ElementsAre("matmul"));
  EXPECT_THAT(near_names("xyzzy", known), IsEmpty());
  EXPECT_THAT(near_names(std::string(100000, 'a'), known), IsEmpty());
}

}  // namespace
}  // namespace tilewright::te
