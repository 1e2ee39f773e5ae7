// Each node and type: interpreter = hand-computed values, LLVM = interpreter bit for bit.
#include "codegen/llvm/compile.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "codegen/llvm/agreement_testing.h"
#include "codegen/llvm/back_end.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// The features of the host, and those without AVX-512.
std::vector<Target> targets() {
  std::vector<Target> result = {host_target(1)};
  if (result[0].has(Feature::Avx512f)) {
    result.push_back(make_target(result[0].cpu()->features.without(Feature::Avx512f), 1));
  }
  return result;
}

Buffer argument(std::string name, Scalar type, int64_t elements) {
  return {.name = std::move(name), .element = {type, 1}, .shape = {elements}};
}

// out[k] = f(a[k], b[k]...) over all elements, `lanes` at a time.
using Elementwise = std::function<Expr(const std::vector<Expr>&)>;
Function elementwise(const std::vector<Scalar>& inputs, Scalar output, int64_t elements,
                     unsigned lanes, const Elementwise& f) {
  Function function{
      .name = "elementwise", .buffers = {}, .arguments = {}, .argument_written = {}, .body = {}};
  const Expr k = var("k");
  const Expr at = ramp(k * int64_t{lanes}, 1, lanes);
  std::vector<Expr> values;
  for (size_t n = 0; n < inputs.size(); ++n) {
    function.buffers.push_back(argument("in" + std::to_string(n), inputs[n], elements));
    values.push_back(load(inputs[n], static_cast<BufferId>(n), {at}));
  }
  const auto out = static_cast<BufferId>(inputs.size());
  function.buffers.push_back(argument("out", output, elements));
  for (BufferId id = 0; id <= out; ++id) function.arguments.push_back(id);
  function.argument_written.assign(inputs.size() + 1, false);
  function.argument_written.back() = true;
  function.body =
      make_for(k, int_imm(elements / lanes), ForKind::Serial, make_store(out, {at}, f(values)));
  return function;
}

const unsigned kLanes[] = {1, 2, 3, 7, 8, 16, 32};
constexpr int64_t kElements = 2 * 3 * 7 * 16;  // 672 = 32 * 21: a multiple of all of them

template <class T>
std::vector<T> repeated(const std::vector<T>& values) {
  std::vector<T> result;
  for (int64_t k = 0; k < kElements; ++k)
    result.push_back(values[static_cast<size_t>(k) % values.size()]);
  return result;
}
// The n-th digit of k in base `size`: all combinations of two lists come by.
template <class T>
std::vector<T> strided(const std::vector<T>& values) {
  std::vector<T> result;
  for (size_t k = 0; k < kElements; ++k)
    result.push_back(values[k / values.size() % values.size()]);
  return result;
}

const std::vector<float> kFloats = {0.0F,    -0.0F,  1.0F,          -1.5F,    2.5F,       3.5F,
                                    -2.5F,   1e-40F, -1e-45F,       3.4e38F,  kInf,       -kInf,
                                    kNan,    0.1F,   65520.0F,      65519.0F, 1e-8F,      127.5F,
                                    -128.7F, 255.9F, 2147483648.0F, -9.3e18F, 16777217.0F};
const std::vector<int32_t> kInts = {
    0,    1,   -1,   2,     -2,       7,         -7,         100,
    255,  256, -129, 65535, 16777217, -16777219, 2147483647, -2147483647 - 1,
    12345};

TEST(Compile, ProbeWorks) {
  const Status status = probe(llvm_back_end());
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST(Compile, FloatArithmeticByHand) {
  const Function f = elementwise({Scalar::F32, Scalar::F32}, Scalar::F32, 8, 8,
                                 [](const auto& x) { return fma(x[0], x[1], x[0] - x[1]); });
  const auto out = run_both(f, {bytes_of_values<float>({1, 2, 3, 4, 5, 6, 7, 8}),
                                bytes_of_values<float>({8, 7, 6, 5, 4, 3, 2, 1}), Bytes(32)});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(values_of_bytes<float>(out[2]), (std::vector<float>{1, 9, 15, 19, 21, 21, 19, 15}));
}

TEST(Compile, BinaryOnFloats) {
  const BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div,
                          BinaryOp::Min, BinaryOp::Max, BinaryOp::Eq,  BinaryOp::Ne,
                          BinaryOp::Lt,  BinaryOp::Le,  BinaryOp::Gt,  BinaryOp::Ge};
  for (const Target& target : targets()) {
    for (BinaryOp op : ops) {
      const bool compares = op >= BinaryOp::Eq;
      for (unsigned lanes : {1U, 7U, 16U, 32U}) {
        const auto a = repeated(kFloats);
        const auto b = strided(kFloats);
        const Scalar result = compares ? Scalar::Bool : Scalar::F32;
        const auto f = [op](const auto& x) { return binary(op, x[0], x[1]); };
        run_both(elementwise({Scalar::F32, Scalar::F32}, result, kElements, lanes, f),
                 {bytes_of_values(a), bytes_of_values(b),
                  Bytes(static_cast<size_t>(kElements * bytes_of(result)))},
                 target);
        const std::vector<double> wide_a(a.begin(), a.end());
        const std::vector<double> wide_b(b.begin(), b.end());
        run_both(elementwise({Scalar::F64, Scalar::F64}, compares ? Scalar::Bool : Scalar::F64,
                             kElements, lanes, f),
                 {bytes_of_values(wide_a), bytes_of_values(wide_b),
                  Bytes(static_cast<size_t>(kElements * (compares ? 1 : 8)))},
                 target);
      }
    }
  }
}

TEST(Compile, MinMaxPropagateNanAndPreferTheFirstZero) {
  const Function f = elementwise({Scalar::F32, Scalar::F32}, Scalar::F32, 6, 1,
                                 [](const auto& x) { return max(x[0], x[1]); });
  const auto out =
      run_both(f, {bytes_of_values<float>({kNan, 1, -0.0F, 0.0F, -kInf, 3}),
                   bytes_of_values<float>({1, kNan, 0.0F, -0.0F, kInf, 2}), Bytes(24)});
  ASSERT_EQ(out.size(), 3U);
  const auto values = values_of_bytes<float>(out[2]);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::signbit(values[2]));
  EXPECT_FALSE(std::signbit(values[3]));
  EXPECT_EQ(values[4], kInf);
  EXPECT_EQ(values[5], 3);
}

TEST(Compile, MinMaxWithConstants) {
  for (double constant : {0.0, -0.0, 6.0}) {
    for (BinaryOp op : {BinaryOp::Min, BinaryOp::Max}) {
      for (bool first : {false, true}) {
        const Function f =
            elementwise({Scalar::F32}, Scalar::F32, kElements, 16, [&](const auto& x) {
              const Expr c = float_imm(constant, x[0].type());
              return first ? binary(op, c, x[0]) : binary(op, x[0], c);
            });
        run_both(f, {bytes_of_values(repeated(kFloats)), Bytes(kElements * 4)});
      }
    }
  }
}

template <class T>
std::vector<T> narrowed(const std::vector<int32_t>& values) {
  std::vector<T> result;
  for (int32_t v : values) result.push_back(static_cast<T>(v));
  return result;
}

template <class T>
void check_integers(Scalar type) {
  const BinaryOp ops[] = {
      BinaryOp::Add,       BinaryOp::Sub,       BinaryOp::Mul,    BinaryOp::Div,   BinaryOp::Mod,
      BinaryOp::Min,       BinaryOp::Max,       BinaryOp::Eq,     BinaryOp::Lt,    BinaryOp::Ge,
      BinaryOp::Gt,        BinaryOp::Le,        BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor,
      BinaryOp::ShiftLeft, BinaryOp::ShiftRight};
  for (BinaryOp op : ops) {
    const bool compares = op >= BinaryOp::Eq && op <= BinaryOp::Ge;
    const Scalar result = compares ? Scalar::Bool : type;
    const bool divides = op == BinaryOp::Div || op == BinaryOp::Mod;
    const bool shifts = op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight;
    const auto a = repeated(narrowed<T>(kInts));
    auto b = strided(narrowed<T>(kInts));
    for (T& x : b) {
      if (divides && x == 0) x = 3;
      if (shifts) x = static_cast<T>(static_cast<uint64_t>(x) % (8 * sizeof(T)));
    }
    for (unsigned lanes : {1U, 3U, 16U}) {
      run_both(elementwise({type, type}, result, kElements, lanes,
                           [op](const auto& x) { return binary(op, x[0], x[1]); }),
               {bytes_of_values(a), bytes_of_values(b),
                Bytes(static_cast<size_t>(kElements * bytes_of(result)))});
    }
    for (int64_t constant : {1, 2, 3, 8, 14, 127, -1, -3}) {
      if (!divides || (constant < 0 && !is_signed(type))) continue;
      run_both(elementwise(
                   {type}, type, kElements, 8,
                   [&](const auto& x) { return binary(op, x[0], int_imm(constant, x[0].type())); }),
               {bytes_of_values(a), Bytes(kElements * sizeof(T))});
    }
  }
}

TEST(Compile, BinaryOnI8) { check_integers<int8_t>(Scalar::I8); }
TEST(Compile, BinaryOnU8) { check_integers<uint8_t>(Scalar::U8); }
TEST(Compile, BinaryOnU16) { check_integers<uint16_t>(Scalar::U16); }
TEST(Compile, BinaryOnU32) { check_integers<uint32_t>(Scalar::U32); }
TEST(Compile, BinaryOnI16) { check_integers<int16_t>(Scalar::I16); }
TEST(Compile, BinaryOnI32) { check_integers<int32_t>(Scalar::I32); }
TEST(Compile, BinaryOnI64) { check_integers<int64_t>(Scalar::I64); }

TEST(Compile, FloorDivisionByHand) {
  const Function f = elementwise({Scalar::I32, Scalar::I32}, Scalar::I32, 4, 1,
                                 [](const auto& x) { return x[0] / x[1] * 1000 + x[0] % x[1]; });
  const auto out = run_both(f, {bytes_of_values<int32_t>({-7, 7, 7, -7}),
                                bytes_of_values<int32_t>({2, 2, -2, -2}), Bytes(16)});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(values_of_bytes<int32_t>(out[2]),
            (std::vector<int32_t>{-4000 + 1, 3000 + 1, -4000 - 1, 3000 - 1}));
}

// Every type to every type, on values at the edges of both.
Bytes edge_values(Scalar type) {
  const std::vector<float> f32 = repeated(kFloats);
  switch (type) {
    case Scalar::Bool:
      return bytes_of_values(repeated<uint8_t>({0, 1, 1}));
    case Scalar::I8:
      return bytes_of_values(repeated<int8_t>({0, 1, -1, 127, -128, 5}));
    case Scalar::U8:
      return bytes_of_values(repeated<uint8_t>({0, 1, 255, 128, 127}));
    case Scalar::U16:
      return bytes_of_values(repeated<uint16_t>({0, 1, 65535, 32768, 32767, 2049}));
    case Scalar::U32:
      return bytes_of_values(
          repeated<uint32_t>({0, 1, UINT32_MAX, uint32_t{1} << 31, INT32_MAX, 16777217, 65520}));
    case Scalar::I16:
      return bytes_of_values(repeated<int16_t>({0, -1, 32767, -32768, 2049, 300}));
    case Scalar::I32:
      return bytes_of_values(repeated(kInts));
    case Scalar::I64:
      return bytes_of_values(repeated<int64_t>(
          {0, 1, -1, (int64_t{1} << 53) + 1, INT64_MAX, INT64_MIN, 65519, 65520, -70000,
           (int64_t{1} << 60) + (int64_t{1} << 52) + 1,
           -((int64_t{1} << 60) + (int64_t{1} << 52) + 1), (int64_t{1} << 60) + (int64_t{1} << 52),
           (int64_t{1} << 40) + 1, 16777217, 33554435}));
    case Scalar::F32:
      return bytes_of_values(f32);
    case Scalar::F16: {
      std::vector<uint16_t> bits;
      for (uint32_t k = 0; k < kElements; ++k) bits.push_back(static_cast<uint16_t>(k * 97));
      bits[0] = 0x7c00, bits[1] = 0xfc00, bits[2] = 1, bits[3] = 0x7e00, bits[4] = 0x7bff;
      return bytes_of_values(bits);
    }
    case Scalar::BF16: {
      std::vector<uint16_t> bits;
      for (uint32_t k = 0; k < kElements; ++k) bits.push_back(static_cast<uint16_t>(k * 97 + 5));
      bits[0] = 0x7f80, bits[1] = 0xff80, bits[2] = 1, bits[3] = 0x7fc0, bits[4] = 0x7f7f;
      return bytes_of_values(bits);
    }
    case Scalar::F64: {
      std::vector<double> values(f32.begin(), f32.end());
      const double edges[] = {2049.0 + 0x1p-30,
                              2049.0 - 0x1p-30,
                              2049.0,
                              0x1p-25 + 0x1p-60,
                              0x1p-25,
                              65520 - 0x1p-30,
                              257.0,
                              257 + 0x1p-40,
                              1e300,
                              -1e300,
                              1e-300,
                              0x1p-149,
                              0x1p-150,
                              0x1.8p-150,
                              0x1.fffffefp127,
                              9.3e18,
                              -9.3e18,
                              0x1p-133 * 1.5,
                              0x1p-134 * 3 + 0x1p-180};
      for (size_t k = 0; k < std::size(edges); ++k) values[k] = edges[k];
      return bytes_of_values(values);
    }
  }
  return {};
}

TEST(Compile, AllCasts) {
  const Scalar types[] = {Scalar::Bool, Scalar::I8,  Scalar::I16, Scalar::I32,
                          Scalar::I64,  Scalar::U8,  Scalar::F16, Scalar::BF16,
                          Scalar::F32,  Scalar::F64, Scalar::U16, Scalar::U32};
  for (const Target& target : targets()) {
    for (Scalar from : types) {
      for (Scalar to : types) {
        for (unsigned lanes : {1U, 7U, 16U}) {
          const Function f = elementwise({from}, to, kElements, lanes,
                                         [to](const auto& x) { return cast(to, x[0]); });
          SCOPED_TRACE(std::string(name_of(from)) + " -> " + std::string(name_of(to)) + " x" +
                       std::to_string(lanes));
          run_both(f, {edge_values(from), Bytes(static_cast<size_t>(kElements * bytes_of(to)))},
                   target);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Compile, AllLaneCounts) {
  for (const Target& target : targets()) {
    for (unsigned lanes : kLanes) {
      const Function f =
          elementwise({Scalar::F32, Scalar::F32}, Scalar::F32, kElements, lanes,
                      [](const auto& x) { return max(fma(x[0], x[1], x[0]), x[1] / x[0]); });
      run_both(f,
               {bytes_of_values(repeated(kFloats)), bytes_of_values(strided(kFloats)),
                Bytes(kElements * 4)},
               target);
      const Function g =
          elementwise({Scalar::F16}, Scalar::BF16, kElements, lanes, [](const auto& x) {
            const Expr y = cast(Scalar::F32, x[0]);
            return cast(Scalar::BF16, y * y);
          });
      run_both(g, {edge_values(Scalar::F16), Bytes(kElements * 2)}, target);
    }
  }
}

TEST(Compile, Intrinsics) {
  for (const Target& target : targets()) {
    for (Scalar type : {Scalar::F32, Scalar::F64}) {
      for (Intrinsic function :
           {Intrinsic::Neg, Intrinsic::Abs, Intrinsic::Floor, Intrinsic::Round, Intrinsic::Sqrt}) {
        for (unsigned lanes : {1U, 3U, 16U}) {
          run_both(elementwise({type}, type, kElements, lanes,
                               [&](const auto& x) { return call(function, {x[0]}); }),
                   {edge_values(type), Bytes(static_cast<size_t>(kElements * bytes_of(type)))},
                   target);
        }
      }
    }
    run_both(elementwise({Scalar::I32}, Scalar::I32, kElements, 8,
                         [&](const auto& x) {
                           return call(Intrinsic::Abs, {x[0]}) + call(Intrinsic::Neg, {x[0]});
                         }),
             {edge_values(Scalar::I32), Bytes(kElements * 4)}, target);
    run_both(elementwise({Scalar::F32}, Scalar::I32, kElements, 16,
                         [&](const auto& x) { return bitcast(Scalar::I32, x[0]) + 1; }),
             {edge_values(Scalar::F32), Bytes(kElements * 4)}, target);
    run_both(
        elementwise({Scalar::Bool, Scalar::Bool}, Scalar::Bool, kElements, 7,
                    [&](const auto& x) { return call(Intrinsic::Not, {x[0] && x[1]}) || x[0]; }),
        {edge_values(Scalar::Bool), edge_values(Scalar::Bool), Bytes(kElements)}, target);
  }
}

TEST(Compile, Ldexp) {
  const std::vector<double> exponents = {0,     1,    -1,    23,  -24,  127,  -126,
                                         128,   -149, -150,  300, -300, 1023, -1022,
                                         -1074, 1100, -1100, 52,  -53};
  std::vector<Target> all = targets();
  if (all[0].has(Feature::Avx512vl)) {
    all.push_back(make_target(all[0].cpu()->features.without(Feature::Avx512vl), 1));
  }
  for (const Target& target : all) {
    for (unsigned lanes : kLanes) {
      std::vector<float> n32;
      for (double n : strided(exponents)) n32.push_back(static_cast<float>(n));
      const auto f = [](const auto& x) { return call(Intrinsic::Ldexp, {x[0], x[1]}); };
      run_both(elementwise({Scalar::F32, Scalar::F32}, Scalar::F32, kElements, lanes, f),
               {edge_values(Scalar::F32), bytes_of_values(n32), Bytes(kElements * 4)}, target);
      run_both(
          elementwise({Scalar::F64, Scalar::F64}, Scalar::F64, kElements, lanes, f),
          {edge_values(Scalar::F64), bytes_of_values(strided(exponents)), Bytes(kElements * 8)},
          target);
    }
  }
}

TEST(Compile, LdexpIsOneInstruction) {
  const Target target = *parse_target("x86-64-v4;threads=1");
  const auto f = [](const auto& x) { return call(Intrinsic::Ldexp, {x[0], x[1]}); };
  for (const auto& [type, lanes] : {std::pair(Scalar::F32, 16U), std::pair(Scalar::F64, 8U)}) {
    std::string text;
    ASSERT_TRUE(compile_llvm(elementwise({type, type}, type, kElements, lanes, f), target,
                             {.llvm_ir = &text}));
    EXPECT_NE(text.find("@llvm.x86.avx512.mask.scalef"), std::string::npos) << text;
    EXPECT_EQ(text.find("fmul"), std::string::npos) << text;
    EXPECT_EQ(text.find("fpto"), std::string::npos) << text;
  }
}

TEST(Compile, SelectIsLazyLaneByLane) {
  // out[k] = k < 5 ? in[k] : -1 with `in` of 5 elements, and divisors that are zero elsewhere.
  for (const Target& target : targets()) {
    for (Scalar type : {Scalar::F32, Scalar::I32, Scalar::U8, Scalar::F16, Scalar::Bool}) {
      for (unsigned lanes : {1U, 3U, 8U, 16U}) {
        Function f{.name = "lazy",
                   .buffers = {argument("in", type, 5), argument("out", type, 48)},
                   .arguments = {0, 1},
                   .argument_written = {false, true},
                   .body = {}};
        const Expr k = var("k");
        const Expr at = ramp(k * int64_t{lanes}, 1, lanes);
        const Expr inside = at < 5;
        const Expr other = imm(1, Type{type, static_cast<uint16_t>(lanes)});
        const Expr twice = at * 2;
        f.body =
            make_for(k, int_imm(48 / lanes), ForKind::Serial,
                     make_block({make_store(1, {at}, select(inside, load(type, 0, {at}), other)),
                                 make_if(k < 1, make_store(1, {at},
                                                           select(twice < 5, load(type, 0, {twice}),
                                                                  load(type, 1, {at}))))}));
        Bytes in(static_cast<size_t>(5 * bytes_of(type)));
        for (size_t b = 0; b < in.size(); ++b)
          in[b] = type == Scalar::Bool ? b % 2 : static_cast<uint8_t>(b + 1);
        run_both(f, {in, Bytes(static_cast<size_t>(48 * bytes_of(type)))}, target);
      }
    }
    for (unsigned lanes : {1U, 4U, 16U}) {
      run_both(
          elementwise({Scalar::I32, Scalar::I32}, Scalar::I32, kElements, lanes,
                      [](const auto& x) {
                        const Expr zero = int_imm(0, x[1].type());
                        return select(binary(BinaryOp::Ne, x[1], zero), x[0] / x[1],
                                      x[0] % int_imm(7, x[0].type()));
                      }),
          {bytes_of_values(repeated(kInts)), bytes_of_values(strided(kInts)), Bytes(kElements * 4)},
          target);
    }
  }
}

TEST(Compile, BroadcastLoadUnderAMask) {
  // Lanes below 5 take in[k]; the scalar load is out of bounds if no lane is selected.
  Function f{.name = "uniform",
             .buffers = {argument("in", Scalar::F32, 2), argument("out", Scalar::F32, 32)},
             .arguments = {0, 1},
             .argument_written = {false, true},
             .body = {}};
  const Expr k = var("k");
  const Expr at = ramp(k * 8, 1, 8);
  const Expr value = broadcast(load(Scalar::F32, 0, {k}), 8);
  f.body = make_for(k, int_imm(4), ForKind::Serial,
                    make_store(1, {at}, select(at < 13, value, float_imm(-1, value.type()))));
  const auto out = run_both(f, {bytes_of_values<float>({10, 20}), Bytes(128)});
  ASSERT_EQ(out.size(), 2U);
  const auto values = values_of_bytes<float>(out[1]);
  EXPECT_EQ(values[7], 10);
  EXPECT_EQ(values[12], 20);
  EXPECT_EQ(values[13], -1);
}

TEST(Compile, StridesGathersAndScatters) {
  for (Scalar type : {Scalar::F32, Scalar::F64, Scalar::I8, Scalar::BF16}) {
    for (unsigned lanes : {2U, 3U, 8U, 16U}) {
      const int64_t n = 64;
      Function f{.name = "strides",
                 .buffers = {argument("in", type, n * 2), argument("index", Scalar::I64, n),
                             argument("out", type, n * 4)},
                 .arguments = {0, 1, 2},
                 .argument_written = {false, false, true},
                 .body = {}};
      const Expr ones = ramp(int_imm(0), 1, lanes);
      const Expr reversed = ramp(int_imm(n - 1), -1, lanes);
      const Expr indirect = load(Scalar::I64, 1, {ones});
      f.body = make_block({
          make_store(2, {ramp(int_imm(0), 3, lanes)}, load(type, 0, {ramp(int_imm(1), 2, lanes)})),
          make_store(2, {reversed}, load(type, 0, {reversed})),
          make_store(2, {ones + int_imm(n, ones.type())}, load(type, 0, {indirect})),
          make_store(2, {indirect + int_imm(2 * n, ones.type())}, load(type, 0, {ones})),
          make_store(2, {ramp(int_imm(n * 3), 1, lanes)},
                     broadcast(load(type, 0, {load(Scalar::I64, 1, {int_imm(3)})}), lanes)),
      });
      std::vector<int64_t> index;
      for (int64_t k = 0; k < n; ++k) index.push_back(k * 29 % n);
      Bytes in(static_cast<size_t>(n * 2 * bytes_of(type)));
      for (size_t b = 0; b < in.size(); ++b) in[b] = static_cast<uint8_t>(b * 3 + 1) & 0x3f;
      run_both(f, {in, bytes_of_values(index), Bytes(static_cast<size_t>(n * 4 * bytes_of(type)))});
    }
  }
}

// LLVM makes dot products of these, and has to add up all of their lanes.
TEST(Compile, VectorReduceOfProductsOfBytes) {
  for (unsigned lanes : {4U, 8U, 12U, 16U, 32U, 64U}) {
    for (const auto& [left, right] : {std::pair{Scalar::U8, Scalar::I8},
                                      {Scalar::I8, Scalar::U8},
                                      {Scalar::I8, Scalar::I8},
                                      {Scalar::U8, Scalar::U8}}) {
      const auto wide = [&](Scalar type, ir::BufferId buffer) {
        return ir::cast(Scalar::I32, load(type, buffer, {ramp(int_imm(0), 1, lanes)}));
      };
      const Function f{
          .name = "dot",
          .buffers = {argument("a", left, 64), argument("b", right, 64),
                      argument("out", Scalar::I32, 1)},
          .arguments = {0, 1, 2},
          .argument_written = {false, false, true},
          .body = make_store(2, {int_imm(0)},
                             vector_reduce(BinaryOp::Add, wide(left, 0) * wide(right, 1)))};
      Bytes a(64), b(64);
      for (size_t k = 0; k < 64; ++k) {
        a[k] = static_cast<uint8_t>(37 * k + 11);
        b[k] = static_cast<uint8_t>(91 * k + 200);
      }
      run_both(f, {a, b, Bytes(4)});
    }
  }
}

TEST(Compile, VectorReduce) {
  for (unsigned lanes : {2U, 3U, 5U, 7U, 8U, 16U, 32U}) {
    for (BinaryOp op : {BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max}) {
      for (Scalar type : {Scalar::F32, Scalar::F64, Scalar::I32}) {
        Function f{
            .name = "reduce",
            .buffers = {argument("in", type, 32), argument("out", type, 1)},
            .arguments = {0, 1},
            .argument_written = {false, true},
            .body = make_store(1, {int_imm(0)},
                               vector_reduce(op, load(type, 0, {ramp(int_imm(0), 1, lanes)})))};
        std::vector<float> values;
        for (int k = 0; k < 32; ++k) values.push_back(1.0F + 1.0F / static_cast<float>(k * k + 3));
        Bytes in = bytes_of_values(values);
        if (type == Scalar::F64)
          in = bytes_of_values(std::vector<double>(values.begin(), values.end()));
        run_both(f, {in, Bytes(static_cast<size_t>(bytes_of(type)))});
      }
    }
    Function f{.name = "any",
               .buffers = {argument("in", Scalar::Bool, 32), argument("out", Scalar::Bool, 2)},
               .arguments = {0, 1},
               .argument_written = {false, true},
               .body = {}};
    const Expr in = load(Scalar::Bool, 0, {ramp(int_imm(0), 1, lanes)});
    f.body = make_block({make_store(1, {int_imm(0)}, vector_reduce(BinaryOp::And, in)),
                         make_store(1, {int_imm(1)}, vector_reduce(BinaryOp::Or, in))});
    Bytes bits(32, 1);
    bits[1] = 0;
    run_both(f, {bits, Bytes(2)});
  }
}

TEST(Compile, UnsupportedIsAnError) {
  const Function f =
      elementwise({Scalar::F32}, Scalar::F32, 8, 8, [](const auto& x) { return exp(x[0]); });
  const auto object = compile_llvm(f, host_target(1));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(object.error().message.find("`exp`"), std::string::npos);
  const auto plain = compile_llvm(f, make_target({}, 1));
  ASSERT_FALSE(plain.has_value());
  EXPECT_NE(plain.error().message.find("avx2"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::codegen
