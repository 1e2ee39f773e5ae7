// Statements: loops, branches, parallel loops, workspaces, addresses; LLVM = interpreter.
#include <gtest/gtest.h>

#include "codegen/llvm/agreement_testing.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

Buffer buffer(std::string name, Type type, std::vector<int64_t> shape,
              Scope scope = Scope::Argument) {
  return {.name = std::move(name), .element = type, .shape = std::move(shape), .scope = scope};
}

Bytes ramp_of_floats(int64_t count) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<float>(k % 37) - 11);
  return bytes_of_values(values);
}

// Each iteration fills a thread's buffer and a part of the shared one, then adds both up.
TEST(Program, ParallelLoopsWithWorkspaces) {
  for (int threads : {1, 2, 4}) {
    const Expr i = var("i"), j = var("j"), scale = var("scale", kF32);
    const Expr k = var("k"), l = var("l");
    const Stmt fill =
        make_block({make_store(2, {j}, load(Scalar::F32, 0, {i, j}) * scale),
                    make_store(3, {i, j}, load(Scalar::F32, 0, {i, j}) + scale),
                    make_store(4, {j}, load(Scalar::F32, 2, {j}) - load(Scalar::F32, 3, {i, j}))});
    const Stmt use =
        make_store(1, {i, k}, load(Scalar::F32, 2, {k}) + load(Scalar::F32, 4, {int_imm(15) - k}));
    const Stmt task = make_allocate(
        2, make_allocate(4, make_block({make_for(j, int_imm(16), ForKind::Serial, fill),
                                        make_for(k, int_imm(16), ForKind::Serial, use)})));
    const Expr m = var("m");
    const Stmt second = make_for(
        m, int_imm(23), ForKind::Parallel,
        make_for(
            l, int_imm(16), ForKind::Serial,
            make_store(1, {m, l},
                       load(Scalar::F32, 1, {m, l}) + load(Scalar::F32, 3, {int_imm(22) - m, l}))));
    const Function f{
        .name = "parallel",
        .buffers = {buffer("in", kF32, {23, 16}), buffer("out", kF32, {23, 16}),
                    buffer("mine", kF32, {16}, Scope::Thread),
                    buffer("ours", kF32, {23, 16}, Scope::Workspace),
                    buffer("local", kF32, {16}, Scope::Stack)},
        .arguments = {0, 1},
        .argument_written = {false, true},
        .body = make_allocate(
            3, make_let(scale, load(Scalar::F32, 0, {int_imm(0), int_imm(1)}),
                        make_block({make_for(i, int_imm(23), ForKind::Parallel, task), second})))};
    run_both(f, {ramp_of_floats(23 * 16), Bytes(23 * 16 * 4)}, host_target(threads), threads);
  }
}

TEST(Program, ThreadBufferOutsideAParallelLoopBelongsToWorkerZero) {
  const Expr i = var("i"), j = var("j");
  const Function f{
      .name = "serial",
      .buffers = {buffer("io", kF32, {8}), buffer("t", kF32, {8}, Scope::Thread)},
      .arguments = {0},
      .argument_written = {true},
      .body = make_allocate(
          1, make_block({make_for(i, int_imm(8), ForKind::Serial,
                                  make_store(1, {i}, load(Scalar::F32, 0, {i}))),
                         make_for(j, int_imm(8), ForKind::Serial,
                                  make_store(0, {j}, load(Scalar::F32, 1, {int_imm(7) - j})))}))};
  run_both(f, {ramp_of_floats(8)}, host_target(2), 2);
}

TEST(Program, DeepNestsAndFusedIndices) {
  // out[a, b, c, d, e] from a fused loop of 2 * 3 * 4, decomposed by / and %.
  const Expr fused = var("fused"), d = var("d"), e = var("e");
  const Expr a = fused / 12, b = fused / 4 % 3, c = fused % 4;
  const auto wide = [](const Expr& x) { return broadcast(x, 8); };
  const Stmt body = make_for(
      fused, int_imm(24), ForKind::Serial,
      make_for(d, int_imm(5), ForKind::Serial,
               make_for(e, int_imm(2), ForKind::Serial,
                        make_store(1, {wide(a), wide(b), wide(c), wide(d), ramp(e * 8, 1, 8)},
                                   load(Scalar::F32, 0,
                                        {wide(c), wide(b), wide(a), wide(d), ramp(e * 8, 1, 8)}) +
                                       wide(cast(Scalar::F32, c * 10 + b))))));
  const Function f{
      .name = "deep",
      .buffers = {buffer("in", kF32, {4, 3, 2, 5, 16}), buffer("out", kF32, {2, 3, 4, 5, 16})},
      .arguments = {0, 1},
      .argument_written = {false, true},
      .body = body};
  run_both(f, {ramp_of_floats(24 * 80), Bytes(24 * 80 * 4)});
}

TEST(Program, VariableExtentsAndBranches) {
  // A triangle: for i < 9: for j < i: out[i, j] = j even ? in[j, i] : -in[i, j] ...
  const Expr i = var("i"), j = var("j"), half = var("half");
  const Expr even = binary(BinaryOp::Eq, j % 2, int_imm(0));
  const Stmt inner =
      make_let(half, (i + j) / 2,
               make_if(even, make_store(1, {i, j}, load(Scalar::F32, 0, {half, i})),
                       make_if(half < 3, make_store(1, {i, j}, load(Scalar::F32, 0, {i, half})),
                               make_store(1, {j, i},
                                          select(j < 4, load(Scalar::F32, 0, {j + 5, j}),
                                                 load(Scalar::F32, 0, {j - 4, i}))))));
  const Function f{
      .name = "triangle",
      .buffers = {buffer("in", kF32, {9, 9}), buffer("out", kF32, {9, 9})},
      .arguments = {0, 1},
      .argument_written = {false, true},
      .body = make_for(i, int_imm(9), ForKind::Serial, make_for(j, i, ForKind::Serial, inner))};
  run_both(f, {ramp_of_floats(81), Bytes(81 * 4)});
}

TEST(Program, SameVariableBoundAgain) {
  // After unrolling, copies of a Let bind one variable in turn, with other values.
  const Expr i = var("i"), at = var("at");
  std::vector<Stmt> copies;
  for (int64_t u = 0; u < 3; ++u) {
    copies.push_back(make_let(
        at, i * 3 + u, make_store(1, {at}, load(Scalar::F32, 0, {at}) + float_imm(1, kF32))));
  }
  const Function f{.name = "again",
                   .buffers = {buffer("in", kF32, {12}), buffer("out", kF32, {12})},
                   .arguments = {0, 1},
                   .argument_written = {false, true},
                   .body = make_for(i, int_imm(4), ForKind::Serial, make_block(copies))};
  run_both(f, {ramp_of_floats(12), Bytes(48)});
}

TEST(Program, RegistersOfEveryType) {
  for (Scalar type : {Scalar::Bool, Scalar::I8, Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64,
                      Scalar::I64}) {
    for (unsigned lanes : {1U, 3U, 16U}) {
      const Type vector{type, static_cast<uint16_t>(lanes)};
      const Expr i = var("i"), zero = int_imm(0);
      const Expr at = ramp(i * int64_t{lanes}, 1, lanes);
      const Stmt body = make_allocate(
          2, make_block(
                 {make_store(2, {zero}, imm(1, vector)),
                  make_for(i, int_imm(4), ForKind::Serial,
                           make_block({make_store(1, {at}, load(vector, 2, {zero})),
                                       make_if(binary(BinaryOp::Ne, i, int_imm(1)),
                                               make_store(2, {zero}, load(type, 0, {at})))}))}));
      const int64_t elements = 4 * int64_t{lanes};
      const Function f{
          .name = "registers",
          .buffers = {buffer("in", {type, 1}, {elements}), buffer("out", {type, 1}, {elements}),
                      buffer("r", vector, {1}, Scope::Register)},
          .arguments = {0, 1},
          .argument_written = {false, true},
          .body = body};
      Bytes in(static_cast<size_t>(elements * bytes_of(type)));
      for (size_t k = 0; k < in.size(); ++k) in[k] = type == Scalar::Bool ? k % 2 : (k * 5) & 0x3f;
      run_both(f, {in, Bytes(in.size())});
    }
  }
}

// C[lanes] = A[lanes] under every kind of mask and of index; the last vector leaves the buffer.
TEST(Program, PredicatedStores) {
  for (Scalar type : {Scalar::Bool, Scalar::I8, Scalar::F16, Scalar::F32, Scalar::F64}) {
    for (int64_t stride : {0, 1, -1, 3}) {
      const Expr i = var("i");
      const auto v8 = [](const Expr& x) { return broadcast(x, 8); };
      const Expr lanes = ramp(i * 8, 1, 8), at = ramp(int_imm(24) + i * stride, stride, 8);
      const Expr inside = binary(BinaryOp::Lt, lanes, v8(int_imm(21)));
      const Expr odd = binary(BinaryOp::Eq, lanes % v8(int_imm(2)), v8(int_imm(1)));
      const Expr value = select(inside, load(type, 0, {lanes}), imm(0, {type, 8}));
      const Expr gathered =
          binary(BinaryOp::Max, at, v8(int_imm(0))) / v8(int_imm(2)) * v8(int_imm(2));
      const Stmt body = make_block({make_store(1, {lanes}, value, inside),
                                    make_store(2, {at}, value, inside && odd),
                                    make_store(2, {gathered}, imm(1, {type, 8}), odd),
                                    make_store(2, {i + 90}, load(type, 0, {i}), i < 1),
                                    make_store(2, {i + 1000}, load(type, 0, {i}), i >= 7)});
      const Function f{.name = "predicated",
                       .buffers = {buffer("in", {type, 1}, {21}), buffer("out", {type, 1}, {21}),
                                   buffer("strided", {type, 1}, {96})},
                       .arguments = {0, 1, 2},
                       .argument_written = {false, true, true},
                       .body = make_for(i, int_imm(3), ForKind::Serial, body)};
      const auto size = static_cast<size_t>(bytes_of(type));
      Bytes in(21 * size);
      for (size_t k = 0; k < in.size(); ++k) in[k] = type == Scalar::Bool ? k % 2 : (k * 5) & 0x3f;
      run_both(f, {in, Bytes(21 * size), Bytes(96 * size)});
    }
  }
}

// r = where(odd, r + in, r); masked terms of a reduction are skipped.
TEST(Program, PredicatedRegisters) {
  const Expr i = var("i"), zero = int_imm(0);
  const Type v8 = kF32.with_lanes(8);
  const Expr lanes = ramp(i, 1, 8);
  const Expr odd = binary(BinaryOp::Eq, lanes % broadcast(int_imm(2), 8), broadcast(int_imm(1), 8));
  const Expr held = load(v8, 2, {zero});
  const Expr picked = select(odd, load(Scalar::F32, 0, {lanes}), imm(0, v8));
  const Expr total = broadcast(vector_reduce(BinaryOp::Add, picked), 8);
  const Stmt body = make_block(
      {make_store(2, {zero}, imm(1, v8)),
       make_for(i, int_imm(5), ForKind::Serial,
                make_block({make_store(2, {zero}, select(odd, held, imm(0, v8)) + picked, odd),
                            make_store(2, {zero}, picked + total, odd),
                            make_store(3, {zero}, load(kF32, 3, {zero}) + imm(1, kF32), i < 2),
                            make_store(1, {ramp(i * 8, 1, 8)}, held)})),
       make_store(1, {int_imm(40)}, load(kF32, 3, {zero}))});
  const Function f{
      .name = "registers",
      .buffers = {buffer("in", kF32, {12}), buffer("out", kF32, {41}),
                  buffer("r", v8, {1}, Scope::Register), buffer("s", kF32, {1}, Scope::Register)},
      .arguments = {0, 1},
      .argument_written = {false, true},
      .body = make_allocate(
          2, make_allocate(3, make_block({make_store(3, {zero}, imm(7, kF32)), body})))};
  run_both(f, {ramp_of_floats(12), Bytes(41 * 4)});
}

// The lanes that a masked store skips are read by a reduction, or by a store under another
// mask.
TEST(Program, MaskedLanesAreKept) {
  const Expr zero = int_imm(0), lanes = ramp(zero, 1, 8);
  const Type v8 = kF32.with_lanes(8);
  const auto below = [&](int64_t n) {
    return binary(BinaryOp::Lt, lanes, broadcast(int_imm(n), 8));
  };
  const Expr held = load(v8, 2, {zero}), in = load(Scalar::F32, 0, {lanes});
  const Stmt readers[] = {
      make_store(1, {zero}, vector_reduce(BinaryOp::Add, held)),
      make_store(1, {zero}, vector_reduce(BinaryOp::Add, select(below(7), held, imm(0, v8)))),
      make_store(1, {lanes}, held),
      make_store(1, {lanes}, held, below(6)),
      make_store(1, {lanes}, select(below(5), imm(0, v8), held)),
      make_store(1, {lanes}, broadcast(vector_reduce(BinaryOp::Max, held), 8), below(5)),
  };
  for (const Stmt& reader : readers) {
    const Function f{
        .name = "kept",
        .buffers = {buffer("in", kF32, {8}), buffer("out", kF32, {8}),
                    buffer("r", v8, {1}, Scope::Register)},
        .arguments = {0, 1},
        .argument_written = {false, true},
        .body = make_allocate(2, make_block({make_store(2, {zero}, imm(100, v8)),
                                             make_store(2, {zero}, in, below(5)), reader}))};
    run_both(f, {ramp_of_floats(8), Bytes(8 * 4)});
  }
}

std::string llvm_ir_of(const Function& function) {
  std::string text;
  EXPECT_TRUE(compile_llvm(function, host_target(2), {.llvm_ir = &text}).has_value());
  return text;
}

// acc = acc + a * b in the lanes of a constant mask: masked loads and stores; only the
// loads are masked if the accumulator is in a register; uniform values are loaded once.
TEST(Program, TailsAreMasked) {
  const Expr k = var("k"), zero = int_imm(0), lanes = ramp(zero, 1, 16);
  const Type v16 = kF32.with_lanes(16);
  const Expr inside = binary(BinaryOp::Lt, lanes, broadcast(int_imm(13), 16));
  const Expr none = imm(0, v16);
  const Expr held = select(inside, load(v16, 3, {zero}), none);
  const Expr row = select(inside, load(Scalar::F32, 1, {ramp(k * 13, 1, 16)}), none);
  const Expr factor = select(inside, load(Scalar::F32, 0, {broadcast(k, 16)}), none);
  const Stmt body = make_block({make_store(3, {zero}, none, inside),
                                make_for(k, int_imm(5), ForKind::Serial,
                                         make_store(3, {zero}, fma(factor, row, held), inside)),
                                make_store(2, {lanes}, held, inside)});
  const Function f{.name = "tail",
                   .buffers = {buffer("a", kF32, {5}), buffer("b", kF32, {65}),
                               buffer("c", kF32, {13}), buffer("acc", v16, {1}, Scope::Register)},
                   .arguments = {0, 1, 2},
                   .argument_written = {false, false, true},
                   .body = make_allocate(3, body)};
  run_both(f, {ramp_of_floats(5), ramp_of_floats(65), Bytes(13 * 4)});
  const std::string text = llvm_ir_of(f);
  const auto count = [&](std::string_view what) {
    size_t times = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++times;
    }
    return times;
  };
  EXPECT_EQ(count("call <16 x float> @llvm.masked.load"), 1u) << text;
  EXPECT_EQ(count("call void @llvm.masked.store"), 1u) << text;
  EXPECT_EQ(count("load float"), 1u) << text;
  EXPECT_EQ(count("@llvm.masked.gather"), 0u) << text;
  EXPECT_EQ(count("select <16 x i1>"), 0u) << text;  // the other lanes of acc are unused
}

// Past the caches where the address is a multiple of the vector; an ordinary store elsewhere.
TEST(Program, StreamsAlignedStores) {
  const Expr i = var("i"), row = var("row");
  const auto copy = [&](const Expr& base, unsigned lanes) {
    const Expr at = ramp(base, 1, lanes);
    return make_store(1, {at}, load(Scalar::F32, 0, {at}), {}, /*stream=*/true);
  };
  struct Case {
    Stmt body;
    bool streams;
  };
  const Case cases[] = {
      {copy(i * 16, 16), true},
      {copy(i * 16 + 8, 16), false},
      {copy(i * 16 + 8, 8), true},
      {copy(i * 8, 16), false},
      {copy(i * 16, 3), false},
      {make_let(row, i * 32 + 16, copy(row + 16, 16)), true},
      {make_let(row, i * 32 + 4, copy(row, 16)), false},
      {make_store(1, {i}, load(Scalar::F32, 0, {i}), {}, /*stream=*/true), false},
  };
  for (const Case& test : cases) {
    for (const ForKind kind : {ForKind::Serial, ForKind::Parallel}) {
      const Function f{.name = "stream",
                       .buffers = {buffer("in", kF32, {128}), buffer("out", kF32, {128})},
                       .arguments = {0, 1},
                       .argument_written = {false, true},
                       .body = make_for(i, int_imm(3), kind, test.body)};
      run_both(f, {ramp_of_floats(128), Bytes(128 * 4)}, host_target(2), 2);
      const std::string text = llvm_ir_of(f);
      EXPECT_EQ(text.find("!nontemporal") != std::string::npos, test.streams) << text;
      EXPECT_NE(text.find("call void @llvm.x86.sse.sfence"), std::string::npos) << text;
    }
  }
}

TEST(Program, PrefetchHasNoEffect) {
  const Expr i = var("i");
  const Function f{.name = "prefetch",
                   .buffers = {buffer("in", kF32, {8}), buffer("out", kF32, {8})},
                   .arguments = {0, 1},
                   .argument_written = {false, true},
                   .body = make_for(i, int_imm(8), ForKind::Parallel,
                                    make_block({make_prefetch(0, {i * 1000000 + 64}),
                                                make_store(1, {i}, float_imm(1, kF32))}))};
  run_both(f, {ramp_of_floats(8), Bytes(8 * 4)}, host_target(2), 2);
  EXPECT_NE(llvm_ir_of(f).find("call void @llvm.prefetch"), std::string::npos);
}

// A shared subtree used twice per level would be 2^40 instructions as a tree.
TEST(Program, SharedExpressionsAreEmittedOnce) {
  const Expr i = var("i");
  Expr x = load(Scalar::F32, 0, {i});
  for (int k = 0; k < 40; ++k) x = fma(x, x, x);
  const Function f{.name = "shared",
                   .buffers = {buffer("io", kF32, {2})},
                   .arguments = {0},
                   .argument_written = {true},
                   .body = make_for(i, int_imm(2), ForKind::Parallel, make_store(0, {i}, x))};
  const auto object = compile_llvm(f, host_target(1));
  ASSERT_TRUE(object.has_value());
  EXPECT_LT(object->bytes.size(), 5000U);
}

TEST(Program, IsReproducible) {
  const Expr i = var("i");
  const Function f{.name = "same bytes!",
                   .buffers = {buffer("io", kF32, {64})},
                   .arguments = {0},
                   .argument_written = {true},
                   .body = make_for(i, int_imm(4), ForKind::Parallel,
                                    make_store(0, {ramp(i * 16, 1, 16)},
                                               load(Scalar::F32, 0, {ramp(i * 16, 1, 16)}) *
                                                   float_imm(3, kF32.with_lanes(16))))};
  const auto once = compile_llvm(f, host_target(1));
  const auto twice = compile_llvm(f, host_target(1));
  ASSERT_TRUE(once.has_value() && twice.has_value());
  EXPECT_EQ(once->bytes, twice->bytes);
  EXPECT_EQ(once->entry, "tilewright_same_bytes_");
}

TEST(Program, FailureOfAParallelLoopFailsTheKernel) {
  const Expr i = var("i");
  const Function f{
      .name = "failing",
      .buffers = {buffer("io", kF32, {4})},
      .arguments = {0},
      .argument_written = {true},
      .body = make_for(i, int_imm(4), ForKind::Parallel, make_store(0, {i}, float_imm(1, kF32)))};
  const auto object = compile_llvm(f, host_target(1));
  ASSERT_TRUE(object.has_value());
  const auto kernel = runtime::Kernel::load(*object);
  ASSERT_TRUE(kernel.has_value());
  float io[4] = {};
  void* arguments[] = {io};
  runtime::ThreadPool pool({.threads = 1});
  EXPECT_EQ((*kernel)({arguments, nullptr, &pool, 0, 0}), TILEWRIGHT_STATUS_PARALLEL_FAILED);
  EXPECT_EQ((*kernel)({arguments, nullptr, &pool, 1, 0}), TILEWRIGHT_STATUS_OK);
  EXPECT_EQ(io[3], 1);
}

}  // namespace
}  // namespace tilewright::codegen
