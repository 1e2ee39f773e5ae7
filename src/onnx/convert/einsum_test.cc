#include "onnx/convert/einsum.h"

#include <gtest/gtest.h>

#include "onnx/refusal.h"

namespace tilewright::onnx {
namespace {

TEST(EinsumTest, LettersAndEllipses) {
  struct Case {
    const char* equation;
    std::vector<size_t> ranks;
    std::vector<std::string> operands;
    const char* result;
  };
  for (const Case& good : {
           Case{"ij,jk->ik", {2, 2}, {"ij", "jk"}, "ik"},
           Case{"ij , jk", {2, 2}, {"ij", "jk"}, "ik"},
           Case{"ba", {2}, {"ba"}, "ab"},
           Case{"ii->i", {2}, {"ii"}, "i"},
           Case{"ij->", {2}, {"ij"}, ""},
           Case{"bi...,...i->b...", {4, 3}, {"biGH", "GHi"}, "bGH"},
           Case{"...ij,...jk", {2, 4}, {"ij", "GHjk"}, "GHik"},
       }) {
    const Einsum einsum = parse_einsum(good.equation, good.ranks);
    EXPECT_EQ(einsum.operands, good.operands) << good.equation;
    EXPECT_EQ(einsum.result, good.result) << good.equation;
  }
}

TEST(EinsumTest, EquationsThatDoNotFit) {
  struct Case {
    const char* equation;
    std::vector<size_t> ranks;
  };
  for (const Case& bad :
       {Case{"ij,jk->ik", {2}}, Case{"ij->ik", {2}}, Case{"ij->ii", {2}}, Case{"ij", {3}},
        Case{"i1", {2}}, Case{"i......", {3}}, Case{"i..", {2}}, Case{"...", {20}}}) {
    EXPECT_THROW(parse_einsum(bad.equation, bad.ranks), Refusal) << bad.equation;
  }
}

}  // namespace
}  // namespace tilewright::onnx
