// Every node, type and kind of statement: C = interpreter, bit for bit, by both compilers, with and
// without AVX-512, all programs in one source.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "codegen/c/agreement_testing.h"
#include "codegen/chain_testing.h"
#include "codegen/microkernel_testing.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kElements = 3 * 5 * 13 * 16;  // a multiple of all lanes below
constexpr unsigned kLanes[] = {1, 3, 5, 13, 16, 40};
constexpr Scalar kTypes[] = {Scalar::Bool, Scalar::I8,  Scalar::I16, Scalar::I32,
                             Scalar::I64,  Scalar::U8,  Scalar::F16, Scalar::BF16,
                             Scalar::F32,  Scalar::F64, Scalar::U16, Scalar::U32};

const std::vector<float> kFloats = {0.0F,    -0.0F,  1.0F,          -1.5F,    2.5F,       3.5F,
                                    -2.5F,   1e-40F, -1e-45F,       3.4e38F,  kInf,       -kInf,
                                    kNan,    0.1F,   65520.0F,      65519.0F, 1e-8F,      127.5F,
                                    -128.7F, 255.9F, 2147483648.0F, -9.3e18F, 16777217.0F};

Buffer buffer(std::string name, Type type, std::vector<int64_t> shape,
              Scope scope = Scope::Argument) {
  return {.name = std::move(name), .element = type, .shape = std::move(shape), .scope = scope};
}

// Values that matter for a type; `stride` > 1 repeats each, so that all pairs come by.
Bytes telling_values(Scalar type, size_t stride) {
  Bytes bytes;
  for (size_t k = 0; k < kElements; ++k) {
    const size_t pick = k / stride;
    uint64_t stored = 0;
    if (type == Scalar::F32) {
      stored = std::bit_cast<uint32_t>(kFloats[pick % kFloats.size()]);
    } else if (type == Scalar::F64) {
      stored = std::bit_cast<uint64_t>(double{kFloats[pick % kFloats.size()]} * 1.0000000001);
    } else if (type == Scalar::F16) {
      stored = f16_from_f32(kFloats[pick % kFloats.size()]);
    } else if (type == Scalar::BF16) {
      stored = bf16_from_f32(kFloats[pick % kFloats.size()]);
    } else if (type == Scalar::Bool) {
      stored = pick % 2;
    } else {
      constexpr int64_t kInts[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   7,
                                   -7,
                                   127,
                                   -128,
                                   32767,
                                   -32768,
                                   2147483647,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   255,
                                   16777217,
                                   9007199254740993,
                                   -9007199254740995,
                                   100};
      stored = static_cast<uint64_t>(kInts[pick % std::size(kInts)]);
    }
    const auto* from = reinterpret_cast<const uint8_t*>(&stored);
    bytes.insert(bytes.end(), from, from + bytes_of(type));
  }
  return bytes;
}

// out[k] = f(a[k], b[k]) over all elements, `lanes` at a time.
using Elementwise = std::function<Expr(const Expr&, const Expr&)>;
void add_elementwise(Programs& programs, Scalar a, Scalar b, unsigned lanes, const Elementwise& f) {
  const Expr k = var("k");
  const Expr at = ramp(k * int64_t{lanes}, 1, lanes);
  const Expr value = f(load(a, 0, {at}), load(b, 1, {at}));
  const Scalar out = value.type().scalar;
  programs.add({.name = "elementwise",
                .buffers = {buffer("a", {a, 1}, {kElements}), buffer("b", {b, 1}, {kElements}),
                            buffer("out", {out, 1}, {kElements})},
                .arguments = {0, 1, 2},
                .argument_written = {false, false, true},
                .body = make_for(k, int_imm(kElements / lanes), ForKind::Serial,
                                 make_store(2, {at}, value))},
               {telling_values(a, 1), telling_values(b, 20),
                Bytes(static_cast<size_t>(kElements * bytes_of(out)))});
}

void add_conversions(Programs& programs) {
  for (Scalar from : kTypes) {
    for (Scalar to : kTypes) {
      for (unsigned lanes : {1U, 16U, 13U}) {
        if (lanes == 13 && from != Scalar::F32 && to != Scalar::F32) continue;
        add_elementwise(programs, from, from, lanes,
                        [&](const Expr& x, const Expr&) { return cast(to, x); });
      }
    }
  }
  constexpr std::pair<Scalar, Scalar> kSameSize[] = {{Scalar::F32, Scalar::I32},
                                                     {Scalar::I32, Scalar::F32},
                                                     {Scalar::F64, Scalar::I64},
                                                     {Scalar::I16, Scalar::BF16}};
  for (const auto& [from, to] : kSameSize) {
    for (unsigned lanes : {1U, 5U, 16U}) {
      add_elementwise(programs, from, from, lanes,
                      [to = to](const Expr& x, const Expr&) { return bitcast(to, x); });
    }
  }
}

void add_arithmetic(Programs& programs) {
  constexpr Scalar kNumbers[] = {Scalar::I8,  Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8,
                                 Scalar::F32, Scalar::F64, Scalar::U16, Scalar::U32};
  constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min,
                               BinaryOp::Max, BinaryOp::Eq,  BinaryOp::Lt,  BinaryOp::Ge};
  for (Scalar type : kNumbers) {
    for (BinaryOp op : kOps) {
      for (unsigned lanes : {1U, 16U}) {
        add_elementwise(programs, type, type, lanes,
                        [&](const Expr& a, const Expr& b) { return binary(op, a, b); });
      }
    }
    if (is_float(type)) continue;
    for (BinaryOp op : {BinaryOp::Div, BinaryOp::Mod}) {
      for (unsigned lanes : {1U, 13U}) {
        // Division by zero happens in lanes that are not selected.
        add_elementwise(programs, type, type, lanes, [&](const Expr& a, const Expr& b) {
          return select(binary(BinaryOp::Eq, b, int_imm(0, b.type())), a, binary(op, a, b));
        });
        add_elementwise(programs, type, type, lanes, [&](const Expr& a, const Expr& b) {
          return binary(op, a, int_imm(8, b.type())) + binary(op, b, int_imm(7, b.type()));
        });
      }
    }
    for (BinaryOp op : {BinaryOp::ShiftLeft, BinaryOp::ShiftRight}) {
      add_elementwise(programs, type, type, 16, [&](const Expr& a, const Expr& b) {
        return binary(op, a, int_imm(3, b.type())) +
               call(Intrinsic::Abs, {call(Intrinsic::Neg, {b})});
      });
    }
  }
}

void add_functions(Programs& programs) {
  for (Scalar type : {Scalar::F32, Scalar::F64}) {
    for (unsigned lanes : kLanes) {
      for (Intrinsic f :
           {Intrinsic::Neg, Intrinsic::Abs, Intrinsic::Floor, Intrinsic::Round, Intrinsic::Sqrt}) {
        add_elementwise(programs, type, type, lanes,
                        [&](const Expr& x, const Expr&) { return call(f, {x}); });
      }
      add_elementwise(programs, type, type, lanes,
                      [](const Expr& a, const Expr& b) { return fma(a, b, a); });
      add_elementwise(programs, type, Scalar::I16, lanes, [&](const Expr& x, const Expr& n) {
        const Expr bounded = max(min(n, int_imm(1100, n.type())), int_imm(-1100, n.type()));
        return call(Intrinsic::Ldexp, {x, cast(type, bounded)});
      });
    }
  }
}

// Rounded twice, also where the compiler might fuse it.
void add_products_and_sums(Programs& programs) {
  for (Scalar type : {Scalar::F32, Scalar::F64}) {
    for (unsigned lanes : kLanes) {
      add_elementwise(programs, type, type, lanes, [](const Expr& a, const Expr& b) {
        const Expr third = imm(1.0 / 3, a.type());
        return (a + third) * (b + third) - third;
      });
    }
  }
}

// Folds of all lanes, in order: out[k] = reduce of in[k * lanes ...].
void add_reductions(Programs& programs) {
  for (Scalar type : {Scalar::F32, Scalar::I32, Scalar::Bool}) {
    for (unsigned lanes : {2U, 3U, 5U, 13U, 16U, 40U, 64U}) {
      for (BinaryOp op :
           {BinaryOp::Add, BinaryOp::Mul, BinaryOp::Max, BinaryOp::And, BinaryOp::Or}) {
        const bool is_logical = op == BinaryOp::And || op == BinaryOp::Or;
        if (is_logical != (type == Scalar::Bool)) continue;
        const Expr k = var("k");
        const int64_t count = 640 / lanes;
        const Expr all = load(type, 0, {ramp(k * int64_t{lanes}, 1, lanes)});
        programs.add(
            {.name = "reduce",
             .buffers = {buffer("in", {type, 1}, {640}), buffer("out", {type, 1}, {count})},
             .arguments = {0, 1},
             .argument_written = {false, true},
             .body = make_for(k, int_imm(count), ForKind::Serial,
                              make_store(1, {k}, vector_reduce(op, all)))});
      }
    }
  }
}

// Lanes outside of the buffer are not read; strides, gathers and scatters.
void add_accesses(Programs& programs) {
  for (Scalar type : {Scalar::F32, Scalar::F64, Scalar::BF16, Scalar::U8, Scalar::Bool}) {
    for (unsigned lanes : kLanes) {
      const Type vector{type, static_cast<uint16_t>(lanes)};
      const Expr k = var("k");
      const int64_t count = 4;
      const int64_t size = count * lanes;
      const Expr at = ramp(k * int64_t{lanes}, 1, lanes);
      const Expr shifted = at + int_imm(-2, at.type());
      const Expr inside = shifted >= 0 && shifted < size - 4;
      const Expr near = select(inside, load(type, 0, {shifted}), imm(1, vector));
      const Expr far = select(inside, load(type, 0, {shifted * 1 + shifted % 2}), near);
      const Expr reversed = ramp(int_imm(size - 1) - k * int64_t{lanes}, -1, lanes);
      const auto shape = std::vector<int64_t>{size};
      const Function f{
          .name = "access",
          .buffers = {buffer("in", {type, 1}, shape), buffer("out", {type, 1}, shape),
                      buffer("back", {type, 1}, shape), buffer("lanes", {type, 1}, shape)},
          .arguments = {0, 1, 2, 3},
          .argument_written = {false, true, true, true},
          .body = make_for(
              k, int_imm(count), ForKind::Serial,
              make_block({make_store(1, {at}, far), make_store(2, {reversed}, load(type, 0, {at})),
                          make_store(3, {shifted}, load(type, 0, {at}), inside),
                          make_prefetch(0, {k * 1000})}))};
      programs.add(f);
    }
  }
}

// Each iteration fills a thread's buffer and a part of the shared one, then adds both up.
void add_parallel(Programs& programs) {
  const Expr i = var("i"), j = var("j"), k = var("k"), scale = var("scale", kF32.with_lanes(16));
  const Expr row = ramp(i * 16, 1, 16), line = ramp(int_imm(0), 1, 16);
  const Stmt fill = make_block(
      {make_store(2, {line}, load(Scalar::F32, 0, {row}) * scale),
       make_store(3, {row}, load(Scalar::F32, 0, {row}) + scale),
       make_for(j, int_imm(16), ForKind::Serial,
                make_store(4, {j}, load(Scalar::F32, 2, {j}) - load(Scalar::F32, 3, {i * 16 + j}))),
       make_store(
           1, {row},
           load(Scalar::F32, 2, {line}) + load(Scalar::F32, 4, {ramp(int_imm(15), -1, 16)}))});
  const Stmt task = make_allocate(2, make_allocate(4, fill));
  const Stmt second =
      make_for(k, int_imm(23), ForKind::Parallel,
               make_store(1, {ramp(k * 16, 1, 16)},
                          load(Scalar::F32, 1, {ramp(k * 16, 1, 16)}) +
                              load(Scalar::F32, 3, {ramp((int_imm(22) - k) * 16, 1, 16)})));
  programs.add(
      {.name = "parallel",
       .buffers = {buffer("in", kF32, {23 * 16}), buffer("out", kF32, {23 * 16}),
                   buffer("mine", kF32, {16}, Scope::Thread),
                   buffer("ours", kF32, {23 * 16}, Scope::Workspace),
                   buffer("local", kF32, {16}, Scope::Stack)},
       .arguments = {0, 1},
       .argument_written = {false, true},
       .body = make_allocate(
           3, make_let(scale, load(Scalar::F32, 0, {line}),
                       make_block({make_for(i, int_imm(23), ForKind::Parallel, task), second})))});
}

// Registers under branches, Lets bound again, variable extents, an unread buffer and an unused Let.
void add_statements(Programs& programs) {
  for (Scalar type : {Scalar::Bool, Scalar::F16, Scalar::F32, Scalar::I64}) {
    for (unsigned lanes : {1U, 3U, 16U}) {
      const Type vector{type, static_cast<uint16_t>(lanes)};
      const Expr i = var("i"), j = var("j"), zero = int_imm(0);
      const Expr at = ramp(i * int64_t{lanes}, 1, lanes);
      const Expr half = var("half"), unread = var("unread");
      const Stmt step = make_block(
          {make_store(1, {at}, load(vector, 2, {zero})),
           make_if(binary(BinaryOp::Ne, i, int_imm(1)), make_store(2, {zero}, load(type, 0, {at})),
                   make_store(2, {zero}, load(vector, 2, {zero}))),
           make_for(j, i, ForKind::Serial,
                    make_block(
                        {make_let(half, (i + j) / 2, make_store(3, {i * 4 + j}, half * 3 - j % 3)),
                         make_let(half, j * 2, make_store(3, {j * 4 + i}, half)),
                         make_let(unread, load(Scalar::I64, 3, {i}),
                                  make_allocate(4, make_store(4, {zero}, i)))}))});
      programs.add(
          {.name = "statements",
           .buffers = {buffer("in", {type, 1}, {4 * int64_t{lanes}}),
                       buffer("out", {type, 1}, {4 * int64_t{lanes}}),
                       buffer("r.0", vector, {1}, Scope::Register),
                       buffer("for", {Scalar::I64, 1}, {16}),
                       buffer("unread", {Scalar::I64, 1}, {2}, Scope::Stack)},
           .arguments = {0, 1, 3},
           .argument_written = {false, true, true},
           .body = make_allocate(2, make_block({make_store(2, {zero}, imm(1, vector)),
                                                make_for(i, int_imm(4), ForKind::Serial, step)}))});
    }
  }
}

Function lowered(const std::string& what, const std::string& trace_text, const Target& target) {
  const Result<Workload> workload = parse_workload(what);
  EXPECT_TRUE(workload.has_value()) << workload.error().message;
  const Result<schedule::Trace> trace = schedule::trace_from_text(trace_text);
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  const Result<schedule::LoopTree> initial = schedule::initial_tree(*workload);
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, *trace);
  EXPECT_TRUE(tree.has_value()) << tree.error().message;
  const Result<Function> function = lower::lower(*workload, target, *tree, *trace);
  EXPECT_TRUE(function.has_value()) << function.error().message;
  return *function;
}

void add_operators(Programs& programs, const Target& target) {
  Microkernel tile{.rows = 5, .columns = 2, .lanes = 16, .unroll = 2, .depth = 8, .blocks = 3};
  programs.add(make_microkernel(tile));
  tile.lanes = 13;
  tile.outer = ForKind::Parallel;
  programs.add(make_microkernel(tile));
  programs.add(lowered("conv2d:n=1,h=6,w=5,ci=3,co=20,kernel=3,stride=1,pad=1",
                       "cache_write Y\nsplit Y c [16]\nreorder Y [c.0, n, y, x, c.1]\n"
                       "annotate Y c.0 parallel\nannotate Y c.1 vectorize\ncompute_at Y.write Y y\n"
                       "reorder Y.write [ry, rx, rc, n, y, x, c]\nannotate Y.write x unroll\n"
                       "annotate Y.write c vectorize\n",
                       target));
  programs.add(lowered("softmax:m=6,n=70", "", target));
  programs.add(lowered("softmax:m=6,n=70",
                       "annotate Y i parallel\nsplit Y j [32]\nannotate Y j.1 vectorize\n"
                       "compute_at M Y i\nsplit M k [32]\nannotate M k.1 vectorize\n"
                       "compute_at E Y i\nsplit E j [32]\nannotate E j.1 vectorize\n"
                       "compute_at S Y i\ncompute_at R Y i\n",
                       target));
}

// The allowed features: all of this machine, all but AVX-512, or only SSE2.
enum class Width : uint8_t { Wide, Narrow, Plain };

Target target_of(Width width) {
  const Target host = host_target(2);
  if (width == Width::Wide) return host;
  return make_target(
      width == Width::Narrow ? host.cpu()->features.without(Feature::Avx512f) : FeatureSet(), 2);
}

class AgreementC : public ::testing::TestWithParam<std::pair<const char*, Width>> {};

TEST_P(AgreementC, EveryNodeAndType) {
  Programs programs;
  add_conversions(programs);
  add_arithmetic(programs);
  add_functions(programs);
  add_reductions(programs);
  programs.check({.compiler = GetParam().first, .flags = {"-O0"}}, target_of(GetParam().second));
}

TEST_P(AgreementC, StatementsAndOperators) {
  const Target target = target_of(GetParam().second);
  Programs programs;
  add_products_and_sums(programs);
  add_accesses(programs);
  add_parallel(programs);
  programs.add(make_chain());
  add_statements(programs);
  add_operators(programs, target);
  programs.check({.compiler = GetParam().first}, target);
}

std::string case_name(const ::testing::TestParamInfo<AgreementC::ParamType>& info) {
  constexpr const char* kNames[] = {"Wide", "Narrow", "Plain"};
  return std::string(info.param.first).substr(0, 3) +
         kNames[static_cast<size_t>(info.param.second)];
}

INSTANTIATE_TEST_SUITE_P(Compilers, AgreementC,
                         ::testing::Values(std::pair{"gcc", Width::Wide},
                                           std::pair{"gcc", Width::Plain},
                                           std::pair{"clang-19", Width::Narrow}),
                         case_name);

}  // namespace
}  // namespace tilewright::codegen
