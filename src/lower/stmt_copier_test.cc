#include "lower/stmt_copier.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

ir::VarId id_of(const Expr& var) { return var.as<ir::Var>()->id; }

class Copier : public StmtCopier {
 public:
  explicit Copier(ir::Substitution values) : StmtCopier(std::move(values)) {}
  Expr bound(const Expr& var) { return renamed(var); }
};

class StmtCopierTest : public ::testing::Test {
 protected:
  // The text of the store C[index] = value where i = 1.
  std::string copied(const Expr& index, const Expr& value) {
    kernel_.function.body =
        Copier({{id_of(i_), ir::int_imm(1)}}).rewrite(ir::make_store(c_, {index}, value));
    return kernel_.text();
  }

  Kernel kernel_;
  const ir::BufferId a_ = kernel_.argument("A", {64}), c_ = kernel_.argument("C", {64});
  const Expr i_ = ir::var("i"), j_ = ir::var("j");
};

TEST_F(StmtCopierTest, IndicesBecomeSums) {
  EXPECT_EQ(copied(j_ + i_ * 8, kernel_.load(a_, {(i_ + j_) * 4})), "C[j + 8] = A[j * 4 + 4]\n");
}

TEST_F(StmtCopierTest, ConstantSelectBecomesItsArm) {
  const Expr zero = ir::float_imm(0, ir::kF32);
  const Expr element = kernel_.load(a_, {j_});
  EXPECT_EQ(copied(j_, ir::select(i_ < 2, element, zero)), "C[j] = A[j]\n");
  EXPECT_EQ(copied(j_, ir::select(i_ < 1, zero, element)), "C[j] = A[j]\n");
  EXPECT_EQ(copied(j_, ir::select(j_ < i_, element, zero)), "C[j] = select(j < 1, A[j], 0.0)\n");
}

TEST_F(StmtCopierTest, BoundVariablesAreNew) {
  Copier copier({});
  const Expr fresh = copier.bound(j_);
  EXPECT_NE(id_of(fresh), id_of(j_));
  EXPECT_TRUE(copier.rewrite(j_).same_as(fresh));
  EXPECT_TRUE(copier.rewrite(i_).same_as(i_));
}

TEST_F(StmtCopierTest, BranchesMayVanish) {
  const ir::Stmt store = ir::make_store(c_, {j_}, ir::float_imm(1, ir::kF32));
  EXPECT_FALSE(make_branch(j_ < 3, {}, {}).defined());
  kernel_.function.body = make_branch(j_ < 3, {}, store);
  EXPECT_EQ(kernel_.text(), "if not(j < 3):\n  C[j] = 1.0\n");
}

}  // namespace
}  // namespace tilewright::lower
