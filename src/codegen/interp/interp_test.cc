#include "codegen/interp/interp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "codegen/interp/lane.h"
#include "ir/fold.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

Buffer buffer(std::string name, Type type, std::vector<int64_t> shape,
              Scope scope = Scope::Argument) {
  return {.name = std::move(name), .element = type, .shape = std::move(shape), .scope = scope};
}

Function function(std::vector<Buffer> buffers, std::vector<BufferId> arguments, Stmt body) {
  const size_t count = arguments.size();
  return {.name = "f",
          .buffers = std::move(buffers),
          .arguments = std::move(arguments),
          .argument_written = std::vector<bool>(count, true),
          .body = std::move(body)};
}

TEST(Interp, MatmulOverLogicalShapes) {
  const Expr i = var("i"), j = var("j"), k = var("k");
  const Expr a = load(Scalar::F32, 0, {i, k});
  const Expr b = load(Scalar::F32, 1, {k, j});
  const Expr c = load(Scalar::F32, 2, {i, j});
  const Stmt body = make_for(
      i, int_imm(2), ForKind::Parallel,
      make_for(j, int_imm(2), ForKind::Vectorized,
               make_for(k, int_imm(3), ForKind::Unrolled, make_store(2, {i, j}, fma(a, b, c)))));
  const Function f =
      function({buffer("A", kF32, {2, 3}), buffer("B", kF32, {3, 2}), buffer("C", kF32, {2, 2})},
               {0, 1, 2}, body);
  float x[] = {1, 2, 3, 4, 5, 6};
  float y[] = {1, 0, 0, 1, 1, 1};
  float z[] = {0, 0, 0, 100};
  void* arguments[] = {x, y, z};
  int64_t loads_of_a = 0;
  InterpOptions options;
  options.observer = [&](const AccessEvent& event, const Environment& environment) {
    if (event.buffer != 0) return;
    ++loads_of_a;
    EXPECT_EQ(event.offset,
              *environment.find(i.as<Var>()->id) * 3 + *environment.find(k.as<Var>()->id));
    EXPECT_FALSE(event.is_store);
  };
  ASSERT_TRUE(interpret(f, arguments, options).has_value());
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{4, 5, 10, 111}));
  EXPECT_EQ(loads_of_a, 12);
}

TEST(Interp, MaskedLanesMayHaveIndicesOutOfBounds) {
  const Expr at = ramp(int_imm(4), 1, 8), mask = binary(BinaryOp::Lt, at, int_imm(6, at.type()));
  const Stmt body = make_block(
      {make_store(0, {at}, float_imm(1, kF32.with_lanes(8)), mask),  // 4 and 5 of 4 .. 11
       make_store(0, {int_imm(99)}, float_imm(2, kF32), int_imm(0, kBool)),
       make_prefetch(0, {int_imm(1000)})});
  float x[6] = {};
  void* arguments[] = {x};
  ASSERT_TRUE(interpret(function({buffer("x", kF32, {6})}, {0}, body), arguments).has_value());
  EXPECT_EQ(std::vector<float>(x, x + 6), (std::vector<float>{0, 0, 0, 0, 1, 1}));
}

TEST(Interp, TransposesASquareAndChecksEachElement) {
  const auto run = [](int64_t to_start, int64_t from_start) {
    const Stmt body = make_transpose({1, int_imm(to_start), 5}, {0, int_imm(from_start), 6}, 4);
    const Function f = function({buffer("x", kF32, {23}), buffer("y", kF32, {21})}, {0, 1}, body);
    std::vector<float> x(23), y(21, -1);
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
    void* arguments[] = {x.data(), y.data()};
    const Status status = interpret(f, arguments);
    return std::pair(status ? "" : status.error().message, y);
  };
  const auto [problem, y] = run(2, 1);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(y, (std::vector<float>{-1, -1, 1, 7,  13, 19, -1, 2,  8,  14, 20,
                                   -1, 3,  9, 15, 21, -1, 4,  10, 16, 22}));
  EXPECT_NE(run(3, 1).first.find("index 21 of dimension 0 of `y` is not in [0, 21)"),
            std::string::npos);
  EXPECT_NE(run(2, 2).first.find("index 23 of dimension 0 of `x` is not in [0, 23)"),
            std::string::npos);
}

TEST(Interp, RegistersAndLetsHoldVectors) {
  const Type v4 = kF32.with_lanes(4);
  const Expr at = ramp(int_imm(0), 1, 4);
  const Expr x = var("x", v4);
  const Stmt body = make_allocate(
      1,
      make_let(x, load(Scalar::F32, 0, {at}),
               make_block({make_store(1, {int_imm(0)}, x * x),
                           make_store(0, {ramp(int_imm(3), -1, 4)}, load(v4, 1, {int_imm(0)}))})));
  const Function f =
      function({buffer("io", kF32, {4}), buffer("r", v4, {1}, Scope::Register)}, {0}, body);
  float io[] = {1, 2, 3, 4};
  void* arguments[] = {io};
  ASSERT_TRUE(interpret(f, arguments).has_value());
  EXPECT_EQ(std::vector<float>(io, io + 4), (std::vector<float>{16, 9, 4, 1}));
}

// Threads write a tile, then read elements that other threads wrote.
TEST(Interp, BoundLoopsRunOneAfterTheOther) {
  const Expr block = var("block"), t = var("t"), u = var("u");
  const auto threads = [](const Expr& thread, Stmt body) {
    return make_bound_for(thread, int_imm(4), ThreadAxis::ThreadX, std::move(body));
  };
  const Stmt fill = make_store(1, {t}, load(Scalar::F32, 0, {block * 4 + t}));
  const Stmt reverse = make_store(0, {block * 4 + u}, load(Scalar::F32, 1, {int_imm(3) - u}));
  const Stmt tile = make_allocate(1, make_block({threads(t, fill), threads(u, reverse)}));
  const Function f = function({buffer("io", kF32, {8}), buffer("tile", kF32, {4}, Scope::Shared)},
                              {0}, make_bound_for(block, int_imm(2), ThreadAxis::BlockX, tile));
  float io[] = {1, 2, 3, 4, 5, 6, 7, 8};
  void* arguments[] = {io};
  ASSERT_TRUE(interpret(f, arguments).has_value());
  EXPECT_EQ(std::vector<float>(io, io + 8), (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(Interp, StoreEvaluatesAllLanesFirst) {
  const Stmt body =
      make_store(0, {ramp(int_imm(1), 1, 3)}, load(Scalar::I32, 0, {ramp(int_imm(0), 1, 3)}));
  int32_t io[] = {1, 2, 3, 4};
  void* arguments[] = {io};
  ASSERT_TRUE(
      interpret(function({buffer("io", {Scalar::I32, 1}, {4})}, {0}, body), arguments).has_value());
  EXPECT_EQ(std::vector<int32_t>(io, io + 4), (std::vector<int32_t>{1, 1, 2, 3}));
}

TEST(Interp, ReductionHalves) {
  // 5 lanes: h = 4: lane 0 takes lane 4; then (0+2), (1+3); then 0+1.
  const Expr in = load(Scalar::F32, 0, {ramp(int_imm(0), 1, 5)});
  const Stmt body = make_store(0, {int_imm(0)}, vector_reduce(BinaryOp::Add, in));
  float io[] = {1e8F, 1, -1e8F, 1, 3};
  const float expected = ((1e8F + 3.0F) + -1e8F) + (1.0F + 1.0F);
  void* arguments[] = {io};
  ASSERT_TRUE(interpret(function({buffer("io", kF32, {5})}, {0}, body), arguments).has_value());
  EXPECT_EQ(io[0], expected);
}

// A shared subtree used twice per level would take 2^60 steps as a tree.
TEST(Interp, SharedExpressionsAreEvaluatedOnce) {
  Expr x = load(Scalar::F32, 0, {int_imm(0)});
  for (int k = 0; k < 60; ++k) x = fma(x, x, x);
  float io[] = {0.0F};
  void* arguments[] = {io};
  EXPECT_TRUE(
      interpret(function({buffer("io", kF32, {1})}, {0}, make_store(0, {int_imm(0)}, x)), arguments)
          .has_value());
}

struct ErrorCase {
  const char* name;
  Stmt body;
  const char* message;
};

TEST(Interp, ErrorsNameTheFault) {
  const Expr i = var("i");
  const auto in = [](const Expr& row, const Expr& column) {
    return load(Scalar::F32, 0, {row, column});
  };
  const auto out = [](const Expr& value) { return make_store(1, {int_imm(0)}, value); };
  const Expr zero = int_imm(0);
  const Expr divisor = load(Scalar::I64, 3, {zero});
  const ErrorCase cases[] = {
      {"high", out(in(zero, int_imm(3))), "index 3 of dimension 1 of `in` is not in [0, 3)"},
      {"low", make_for(i, int_imm(4), ForKind::Serial, out(in(i - 1, zero))),
       "index -1 of dimension 0 of `in` is not in [0, 2)"},
      {"store", make_store(1, {int_imm(9)}, float_imm(0, kF32)), "index 9 of dimension 0 of `out`"},
      {"unwritten", make_allocate(2, out(load(Scalar::F32, 2, {int_imm(1)}))),
       "element 1 of `tmp` is read before it was written; at `out[0] = tmp[1]`"},
      {"again",
       make_for(
           i, int_imm(2), ForKind::Serial,
           make_allocate(2, make_block({make_if(i < 1, make_store(2, {zero}, float_imm(1, kF32))),
                                        out(load(Scalar::F32, 2, {zero}))}))),
       "element 0 of `tmp` is read before it was written"},
      {"outside", out(load(Scalar::F32, 2, {zero})), "`tmp` is accessed outside of its Allocate"},
      {"zero", make_store(3, {zero}, int_imm(7) / divisor), "7 / 0 has no value"},
      {"unbound", make_store(3, {zero}, i), "variable `i` is not bound"},
      {"rank", out(load(Scalar::F32, 0, {zero})), "`in` has 2 dimensions, not 1"},
  };
  for (const ErrorCase& c : cases) {
    const Function f = function({buffer("in", kF32, {2, 3}), buffer("out", kF32, {1}),
                                 buffer("tmp", kF32, {4}, Scope::Stack), buffer("n", kIndex, {1})},
                                {0, 1, 3}, c.body);
    float x[6] = {};
    float y[1] = {};
    int64_t n[1] = {};
    void* arguments[] = {x, y, n};
    const Status status = interpret(f, arguments);
    ASSERT_FALSE(status.has_value()) << c.name;
    EXPECT_NE(status.error().message.find(c.message), std::string::npos)
        << c.name << ": " << status.error().message;
  }
}

TEST(Interp, StopsAfterTooManySteps) {
  const Expr i = var("i");
  const Stmt body =
      make_for(i, int_imm(1000), ForKind::Serial, make_store(0, {int_imm(0)}, float_imm(1, kF32)));
  float io[1] = {};
  void* arguments[] = {io};
  InterpOptions options;
  options.max_steps = 100;
  EXPECT_FALSE(interpret(function({buffer("io", kF32, {1})}, {0}, body), arguments, options));
  EXPECT_FALSE(interpret(function({buffer("io", kF32, {1})}, {0}, body), {}));
}

struct CastCase {
  Scalar from;
  double value;
  Scalar to;
  double expected;
};

TEST(Lane, CastsFollowTheDefinition) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const CastCase cases[] = {
      {Scalar::F32, -1.9, Scalar::I32, -1},        {Scalar::F32, nan, Scalar::I8, 0},
      {Scalar::F32, 300, Scalar::I8, 127},         {Scalar::F64, -5, Scalar::U8, 0},
      {Scalar::F64, 1e30, Scalar::I32, INT32_MAX}, {Scalar::F32, 0.5, Scalar::Bool, 1},
      {Scalar::F64, 2049, Scalar::F16, 2048},      {Scalar::F64, 2049 + 1e-9, Scalar::F16, 2050},
      {Scalar::F32, 65520, Scalar::F16, inf},      {Scalar::F64, 257, Scalar::BF16, 256},
      {Scalar::F64, 259, Scalar::BF16, 260},       {Scalar::F64, -inf, Scalar::BF16, -inf},
  };
  for (const CastCase& c : cases) {
    const Lane lane = cast_lane(c.from, c.to, lane_of_float(c.from, c.value));
    const double actual =
        is_float(c.to) ? float_of(c.to, lane) : static_cast<double>(integer_of(lane));
    EXPECT_EQ(actual, c.expected) << name_of(c.from) << " " << c.value << " -> " << name_of(c.to);
  }
  EXPECT_EQ(integer_of(cast_lane(Scalar::I32, Scalar::I8, lane_of(300))), 44);
  EXPECT_EQ(integer_of(cast_lane(Scalar::I32, Scalar::U8, lane_of(-1))), 255);
  EXPECT_EQ(integer_of(cast_lane(Scalar::I64, Scalar::Bool, lane_of(256))), 1);
  // One rounding from I64: half an ulp and a bit more goes up.
  const int64_t above_half = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  EXPECT_EQ(float_of(Scalar::BF16, cast_lane(Scalar::I64, Scalar::BF16, lane_of(above_half))),
            0x1.02p60);
}

constexpr BinaryOp kIntegerOps[] = {
    BinaryOp::Add,    BinaryOp::Sub,       BinaryOp::Mul,       BinaryOp::Div,    BinaryOp::Mod,
    BinaryOp::Min,    BinaryOp::Max,       BinaryOp::Eq,        BinaryOp::Ne,     BinaryOp::Lt,
    BinaryOp::Le,     BinaryOp::Gt,        BinaryOp::Ge,        BinaryOp::BitAnd, BinaryOp::BitOr,
    BinaryOp::BitXor, BinaryOp::ShiftLeft, BinaryOp::ShiftRight};

// Two independent implementations: where they agree on all small numbers and at the ends of
// the large types, a mistake is in neither.
TEST(Lane, IntegersAgreeWithConstantFolding) {
  const auto expect_same = [](Scalar type, int64_t a, int64_t b) {
    for (const BinaryOp op : kIntegerOps) {
      const auto lane = binary_lane(op, type, lane_of(a), lane_of(b));
      const auto folded = fold_integers(op, type, a, b);
      ASSERT_EQ(lane.has_value(), folded.has_value()) << name_of(type) << " " << a << " " << b;
      if (lane) {
        ASSERT_EQ(integer_of(*lane), *folded) << name_of(type) << " " << a << " " << b;
      }
    }
  };
  for (int64_t a = -128; a < 256; ++a) {
    for (int64_t b = -128; b < 256; ++b) {
      if (a < 128 && b < 128) expect_same(Scalar::I8, a, b);
      if (a >= 0 && b >= 0) expect_same(Scalar::U8, a, b);
    }
  }
  for (const Scalar type : {Scalar::I16, Scalar::I32, Scalar::I64}) {
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * bytes_of(type)));
    const int64_t ends[] = {-high - 1, -high, -8, -7, -2, -1, 0, 1, 2, 3, 7, 15, high - 1, high};
    for (const int64_t a : ends) {
      for (const int64_t b : ends) expect_same(type, a, b);
    }
  }
  for (const int64_t a : {0, 1}) {
    for (const int64_t b : {0, 1}) {
      for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or, BinaryOp::Eq, BinaryOp::Ne}) {
        EXPECT_EQ(integer_of(*binary_lane(op, Scalar::Bool, lane_of(a), lane_of(b))),
                  *fold_integers(op, Scalar::Bool, a, b));
      }
    }
  }
}

TEST(Lane, IntegersFollowTheDefinition) {
  const auto value = [](BinaryOp op, Scalar type, int64_t a, int64_t b) {
    const auto lane = binary_lane(op, type, lane_of(a), lane_of(b));
    return lane ? std::optional(integer_of(*lane)) : std::nullopt;
  };
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      EXPECT_EQ(value(BinaryOp::Add, Scalar::I8, a, b), static_cast<int8_t>(a + b));
      EXPECT_EQ(value(BinaryOp::Mul, Scalar::I8, a, b), static_cast<int8_t>(a * b));
      if (b == 0) continue;
      const auto quotient = static_cast<int>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(value(BinaryOp::Div, Scalar::I8, a, b), static_cast<int8_t>(quotient));
      EXPECT_EQ(value(BinaryOp::Mod, Scalar::I8, a, b), a - quotient * b);
    }
  }
  EXPECT_EQ(value(BinaryOp::Div, Scalar::I32, 1, 0), std::nullopt);
  EXPECT_EQ(value(BinaryOp::Mod, Scalar::I32, 1, 0), std::nullopt);
  EXPECT_EQ(value(BinaryOp::ShiftLeft, Scalar::I8, 3, 7), -128);
  EXPECT_EQ(value(BinaryOp::ShiftLeft, Scalar::I8, 3, 8), std::nullopt);
  EXPECT_EQ(value(BinaryOp::ShiftRight, Scalar::I8, -3, 1), -2);
  EXPECT_EQ(value(BinaryOp::ShiftRight, Scalar::U8, 255, 1), 127);
  EXPECT_EQ(value(BinaryOp::Mul, Scalar::I64, INT64_MAX, INT64_MAX), 1);
  EXPECT_EQ(value(BinaryOp::Div, Scalar::I64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(value(BinaryOp::Sub, Scalar::U8, 0, 1), 255);
}

// One lane of a Dot of BF16 as VDPBF16PS adds it.
float dot_float(std::vector<float> a, std::vector<float> b, float sum) {
  for (size_t f = a.size(); f-- > 0;) {
    const Lane next =
        dot_lane(Scalar::BF16, DotRounding::DescendingFlushed, lane_of_float(Scalar::BF16, a[f]),
                 lane_of_float(Scalar::BF16, b[f]), lane_of_float(Scalar::F32, sum));
    sum = static_cast<float>(float_of(Scalar::F32, next));
  }
  return sum;
}

TEST(Lane, DotProducts) {
  const auto integers = [](int64_t a, int64_t b, int64_t sum) {
    return integer_of(dot_lane(Scalar::I8, {}, lane_of(a), lane_of(b), lane_of(sum)));
  };
  EXPECT_EQ(integers(255, -128, 7), -32633);
  EXPECT_EQ(integers(255, 127, INT32_MAX), INT32_MIN + 255 * 127 - 1);  // wraps

  EXPECT_EQ(dot_float({3, 5}, {7, 2}, 1), 32);
  // The second product is added first, each sum rounded once, to even.
  EXPECT_EQ(dot_float({1, 1}, {0x1p-24f, 0x1p-24f}, 1), 1);
  EXPECT_EQ(dot_float({-1, 1}, {1, 0x1p-24f}, 1), 0);
  // Denormals are zeros of their sign, as operands and as results.
  EXPECT_EQ(dot_float({0x1p-130f}, {0x1p100f}, 0), 0);
  EXPECT_EQ(dot_float({1}, {1}, 0x1p-130f), 1);
  EXPECT_EQ(dot_float({0x1p-100f}, {0x1p-30f}, 0), 0);
  EXPECT_TRUE(std::signbit(dot_float({-0x1p-100f}, {0x1p-30f}, -0.0f)));
  EXPECT_EQ(dot_float({0x1p-100f}, {0x1p-26f}, 0), 0x1p-126f);
}

// sum + a . b of one lane, as the interpreter computes it.
float interpreted_dot(Scalar factor, DotRounding rounding, std::vector<float> a,
                      std::vector<float> b, float sum, bool denormals) {
  const auto bits = [&](const std::vector<float>& values) {
    std::vector<uint16_t> all;
    for (const float value : values) {
      all.push_back(static_cast<uint16_t>(lane_of_float(factor, value)));
    }
    return all;
  };
  std::vector<uint16_t> a_bits = bits(a), b_bits = bits(b);
  std::vector<float> c = {sum};
  const auto count = static_cast<unsigned>(a.size());
  const Expr where = ramp(int_imm(0), 1, count);
  const Stmt body = make_store(2, {int_imm(0)},
                               dot(load(Scalar::F32, 2, {int_imm(0)}), load(factor, 0, {where}),
                                   load(factor, 1, {where}), 1, {}, rounding));
  Function f = function({buffer("a", {factor, 1}, {count}), buffer("b", {factor, 1}, {count}),
                         buffer("c", {Scalar::F32, 1}, {1})},
                        {0, 1, 2}, body);
  f.denormals = denormals;
  const std::vector<void*> arguments = {a_bits.data(), b_bits.data(), c.data()};
  EXPECT_TRUE(interpret(f, arguments));
  return c[0];
}

// The two roundings differ in their order and in denormals, for either type of factors.
TEST(Interp, DotRoundings) {
  using enum DotRounding;
  for (const Scalar factor : {Scalar::F16, Scalar::BF16}) {
    const auto sum = [&](DotRounding rounding, std::vector<float> a, std::vector<float> b, float c,
                         bool denormals = true) {
      return interpreted_dot(factor, rounding, std::move(a), std::move(b), c, denormals);
    };
    // 1 + 2^-24 rounds to 1, unless 1 was subtracted before.
    EXPECT_EQ(sum(Ascending, {-1, 0x1p-12f}, {1, 0x1p-12f}, 1), 0x1p-24f);
    EXPECT_EQ(sum(DescendingFlushed, {-1, 0x1p-12f}, {1, 0x1p-12f}, 1), 0);
    EXPECT_EQ(sum(Ascending, {0}, {1}, 0x1p-130f), 0x1p-130f);
    EXPECT_EQ(sum(DescendingFlushed, {0}, {1}, 0x1p-130f), 0);
    EXPECT_EQ(sum(Ascending, {0}, {1}, 0x1p-130f, false), 0);
  }
}

// x with denormals kept and flushed.
TEST(Interp, DenormalsCountAsZeroUnlessTheyAreKept) {
  const auto result_of = [](float x, bool denormals, const std::function<Expr(Expr)>& make) {
    std::vector<float> in = {x}, out = {-1};
    const Expr value = make(load(Scalar::F32, 0, {int_imm(0)}));
    Function f = function({buffer("x", kF32, {1}), buffer("y", kF32, {1})}, {0, 1},
                          make_store(1, {int_imm(0)}, value));
    f.denormals = denormals;
    const std::vector<void*> arguments = {in.data(), out.data()};
    EXPECT_TRUE(interpret(f, arguments));
    return out[0];
  };
  constexpr float kMinNormal = std::numeric_limits<float>::min();
  const auto number = [](double value) { return imm(value, kF32); };
  struct Case {
    float x;
    std::function<Expr(Expr)> make;
    float kept, flushed;
  };
  const Case cases[] = {
      {kMinNormal, [&](const Expr& x) { return x * number(0.5); }, kMinNormal / 2, 0},
      {kMinNormal / 2, [&](const Expr& x) { return x * number(4); }, 2 * kMinNormal, 0},
      {kMinNormal / 2, [&](const Expr& x) { return x + number(0); }, kMinNormal / 2, 0},
      {1.5F * kMinNormal, [&](const Expr& x) { return x - number(kMinNormal); }, kMinNormal / 2, 0},
      {kMinNormal / 2, [&](const Expr& x) { return fma(x, number(0x1p100), x); },
       kMinNormal / 2 * 0x1p100F, 0},
      {kMinNormal / 4, [](const Expr& x) { return call(Intrinsic::Sqrt, {x}); }, 0x1p-64F, 0},
      {-kMinNormal / 2, [](const Expr& x) { return call(Intrinsic::Floor, {x}); }, -1, 0},
      {kMinNormal / 2, [&](const Expr& x) { return call(Intrinsic::Ldexp, {x, number(100)}); },
       kMinNormal / 2 * 0x1p100F, 0},
      {1, [&](const Expr& x) { return call(Intrinsic::Ldexp, {x, number(-140)}); }, 0x1p-140F, 0},
      {kMinNormal / 2,
       [&](const Expr& x) {
         return select(binary(BinaryOp::Gt, x, number(0)), number(1), number(2));
       },
       1, 2},
      {kMinNormal / 2, [](const Expr& x) { return cast(Scalar::F32, cast(Scalar::F64, x)); },
       kMinNormal / 2, 0},
  };
  for (size_t k = 0; k < std::size(cases); ++k) {
    const Case& one = cases[k];
    const auto bits = [](float value) { return std::bit_cast<uint32_t>(value) & 0x7fffffff; };
    EXPECT_EQ(bits(result_of(one.x, true, one.make)), bits(one.kept)) << k;
    EXPECT_EQ(bits(result_of(one.x, false, one.make)), bits(one.flushed)) << k;
  }
}

// Lane l takes factors l * F and on of b, and all of a.
TEST(Interp, DotProducts) {
  std::vector<uint8_t> a = {1, 2, 3, 200};
  std::vector<int8_t> b = {1, 1, 1, 1, -1, 0, 0, -128};
  std::vector<int32_t> c = {10, 20};
  const Expr where = ramp(int_imm(0), 1, 2);
  const Stmt body =
      make_store(2, {where},
                 dot(load(Scalar::I32, 2, {where}), load(Scalar::U8, 0, {ramp(int_imm(0), 1, 4)}),
                     load(Scalar::I8, 1, {ramp(int_imm(0), 1, 8)})));
  const Function f = function({buffer("a", {Scalar::U8, 1}, {4}), buffer("b", {Scalar::I8, 1}, {8}),
                               buffer("c", {Scalar::I32, 1}, {2})},
                              {0, 1, 2}, body);
  const std::vector<void*> arguments = {a.data(), b.data(), c.data()};
  const Status status = interpret(f, arguments);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(c, (std::vector<int32_t>{216, 20 - 1 - 200 * 128}));
}

}  // namespace
}  // namespace tilewright::codegen
