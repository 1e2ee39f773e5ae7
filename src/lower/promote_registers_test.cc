#include "lower/promote_registers.h"

#include "lower/lane_mask.h"
#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

class PromoteRegisters : public testing::Test {
 protected:
  std::string after(ir::Stmt body) {
    kernel.function.body = ir::make_allocate(t, std::move(body));
    return kernel.after(promote_registers);
  }
  // t[start .. start + lanes) = A[...]
  ir::Stmt fill(int64_t start, unsigned lanes) const {
    const Expr index = vector_index(start, lanes);
    return ir::make_store(t, {index}, kernel.load(a, {index}));
  }
  ir::Stmt copy_out(int64_t start, unsigned lanes) const {
    const Expr index = vector_index(start, lanes);
    return ir::make_store(c, {index}, kernel.load(t, {index}));
  }
  static Expr vector_index(int64_t start, unsigned lanes) {
    const Expr base = ir::int_imm(start);
    return lanes == 1 ? base : ir::ramp(base, 1, lanes);
  }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {4096}), c = kernel.argument("C", {4096});
  const ir::BufferId t = kernel.local("t", {256});
};

TEST_F(PromoteRegisters, OneRegisterPerVector) {
  EXPECT_EQ(after(ir::make_block({fill(0, 16), fill(16, 4), fill(20, 1), copy_out(16, 4),
                                  copy_out(20, 1), copy_out(0, 16)})),
            "allocate t.0\n"
            "allocate t.1\n"
            "allocate t.2\n"
            "t.0[0] = A[ramp(0, 1, 16)]\n"
            "t.1[0] = A[ramp(16, 1, 4)]\n"
            "t.2[0] = A[20]\n"
            "C[ramp(16, 1, 4)] = t.1[0]\n"
            "C[20] = t.2[0]\n"
            "C[ramp(0, 1, 16)] = t.0[0]\n");
  const ir::Buffer& piece = kernel.function.buffers.back();
  EXPECT_EQ(piece.scope, ir::Scope::Register);
  EXPECT_EQ(ir::to_string(piece.element), "f32");
}

TEST_F(PromoteRegisters, MasksOfAllAccessesAreDropped) {
  const Expr mask = prefix_mask(3, 4);
  const Expr zero = ir::imm(0, ir::kF32.with_lanes(4));
  const auto piece = [&](const Expr& under, int64_t start) {
    const Expr index = vector_index(start, 4);
    return ir::make_block(
        {ir::make_store(t, {index}, kernel.load(a, {index}), under),
         ir::make_store(c, {index}, ir::select(under, kernel.load(t, {index}), zero), under)});
  };
  EXPECT_EQ(after(ir::make_block({piece(mask, 0), piece(mask, 3)})),
            "allocate t.0\n"
            "allocate t.1\n"
            "t.0[0] = A[ramp(0, 1, 4)]\n"
            "C[ramp(0, 1, 4)] = t.0[0] where ramp(0, 1, 4) < x4(3)\n"
            "t.1[0] = A[ramp(3, 1, 4)]\n"
            "C[ramp(3, 1, 4)] = t.1[0] where ramp(0, 1, 4) < x4(3)\n");
  // A use without the mask would read the zeros of the other lanes.
  const Expr index = vector_index(0, 4);
  const ir::Stmt sees = ir::make_store(c, {index}, ir::select(mask, kernel.load(t, {index}), zero));
  EXPECT_EQ(
      after(ir::make_block({ir::make_store(t, {index}, kernel.load(a, {index}), mask), sees})),
      "allocate t.0\n"
      "t.0[0] = A[ramp(0, 1, 4)] where ramp(0, 1, 4) < x4(3)\n"
      "C[ramp(0, 1, 4)] = select(ramp(0, 1, 4) < x4(3), t.0[0], x4(0.0))\n");
}

TEST_F(PromoteRegisters, KeepsUnevenAccessesInMemory) {
  const Expr i = ir::var("i");
  std::vector<ir::Stmt> many;
  for (int64_t k = 0; k < 65; ++k) many.push_back(fill(k, 1));
  const ir::Stmt cases[] = {
      ir::make_block({fill(0, 16), copy_out(0, 4)}),
      ir::make_block({fill(0, 16), copy_out(8, 16)}),
      ir::make_block({fill(0, 16), copy_out(15, 1)}),
      ir::make_block({fill(0, 1), loop(i, 4, ir::make_store(c, {i}, kernel.load(t, {i})))}),
      ir::make_store(t, {ir::ramp(ir::int_imm(0), 2, 4)}, ir::imm(0, {ir::Scalar::F32, 4})),
      ir::make_block(many),
  };
  for (const ir::Stmt& body : cases) {
    kernel.function.buffers[t].scope = ir::Scope::Thread;
    const std::string text = after(body);
    EXPECT_EQ(text.substr(0, 11), "allocate t\n") << text;
    EXPECT_EQ(kernel.function.buffers[t].scope, ir::Scope::Stack) << text;
  }
}

TEST_F(PromoteRegisters, SharedBuffersAreNotPromoted) {
  const Expr i = ir::var("i");
  kernel.function.buffers[t].scope = ir::Scope::Workspace;
  after(loop(i, 2, fill(0, 1), ir::ForKind::Parallel));
  EXPECT_EQ(kernel.text().substr(0, 11), "allocate t\n");
  EXPECT_EQ(kernel.function.buffers[t].scope, ir::Scope::Workspace);
}

TEST_F(PromoteRegisters, LargeBuffersAreNotPromoted) {
  kernel.function.buffers[t].shape = {1 << 20};
  const Expr i = ir::var("i");
  after(loop(i, 4, ir::make_store(t, {i}, kernel.load(a, {i}))));
  EXPECT_EQ(kernel.function.buffers[t].scope, ir::Scope::Thread);
}

}  // namespace
}  // namespace tilewright::lower
