// Stores alone: one store, prefetch or square in, its instructions out.
#include "codegen/llvm/stores.h"

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ::testing::HasSubstr;
using ::testing::Not;

class StoresTest : public EmissionTest {
 protected:
  std::string emitted(const Expr& index, const Expr& predicate = {}, bool stream = false) {
    const ir::Stmt stmt =
        ir::make_store(kB, {index}, ir::broadcast(ir::float_imm(1, ir::kF32), index.type().lanes),
                       predicate, stream);
    exprs_.begin_statement();
    stores_.emit_store(*stmt.as<ir::Store>());
    return text();
  }

  ExprEmitter exprs_{emission_, frame_};
  Stores stores_{emission_, frame_, exprs_};
};

TEST_F(StoresTest, ScalarStore) {
  EXPECT_THAT(emitted(i_), HasSubstr("store float 1.000000e+00, ptr %"));
}

TEST_F(StoresTest, AScalarPredicateIsABranch) {
  const std::string text = emitted(i_, i_ < 8);
  EXPECT_THAT(text, HasSubstr("br i1"));
  EXPECT_THAT(text, HasSubstr("then:"));
}

TEST_F(StoresTest, AVectorPredicateIsAMask) {
  const Expr lanes = ir::ramp(i_, 1, 8);
  EXPECT_THAT(emitted(lanes, lanes < ir::broadcast(ir::int_imm(100), 8)),
              HasSubstr("@llvm.masked.store.v8f32"));
}

TEST_F(StoresTest, StridedLanesAreStoredOneByOne) {
  const std::string text = emitted(ir::ramp(i_, 2, 4));
  EXPECT_THAT(text, Not(HasSubstr("store <4 x float>")));
  EXPECT_THAT(text, HasSubstr("i64 6\n"));  // the last lane
}

TEST_F(StoresTest, StreamingStoresAreAligned) {
  EXPECT_THAT(emitted(ir::ramp(i_ + 1, 1, 8), {}, true), Not(HasSubstr("!nontemporal")));
  EXPECT_THAT(emitted(ir::ramp(i_ * 2, 1, 8), {}, true), HasSubstr("align 32, !nontemporal"));
}

TEST_F(StoresTest, PrefetchTargetsAllCaches) {
  const ir::Stmt stmt = ir::make_prefetch(kA, {i_ + 64});
  stores_.emit_prefetch(*stmt.as<ir::Prefetch>());
  EXPECT_THAT(text(), HasSubstr(", i32 0, i32 3, i32 1)"));
}

TEST_F(StoresTest, TransposedTileIsLoadedAndStoredByRows) {
  const ir::Stmt stmt = ir::make_transpose({kB, i_, 64}, {kA, i_, 32}, 4);
  stores_.emit_transpose(*stmt.as<ir::Transpose>());
  EXPECT_THAT(text(), HasSubstr("load <4 x float>"));
  EXPECT_THAT(text(), HasSubstr("i64 96\n"));   // the last row of A
  EXPECT_THAT(text(), HasSubstr("i64 192\n"));  // and of B
  EXPECT_THAT(text(), HasSubstr("shufflevector"));
}

}  // namespace
}  // namespace tilewright::codegen
