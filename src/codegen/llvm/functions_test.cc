// The functions that `lower` expands, compiled and compared with the C library in the next wider
// type, in ulps of the true value: dense samples of all bit patterns, every f32 with
// TILEWRIGHT_EXHAUSTIVE set. And the special values, exactly, and the same bits from every target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/rng.h"
#include "codegen/llvm/agreement_testing.h"
#include "lower/expand_functions.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::Intrinsic;

// The error limit of an expansion in ulps: slightly more than the largest error that was found,
// which for f32 (except pow) is the maximum over all inputs.
struct FunctionCase {
  Intrinsic function;
  double f32_ulps, f64_ulps;
};

constexpr FunctionCase kUnary[] = {
    {Intrinsic::Exp, 1.91, 1.0}, {Intrinsic::Log, 0.85, 0.85},    {Intrinsic::Tanh, 3.34, 3.3},
    {Intrinsic::Erf, 1.6, 1.5},  {Intrinsic::Sigmoid, 3.71, 2.6}, {Intrinsic::Rsqrt, 1.5, 1.5},
};
constexpr FunctionCase kPow = {Intrinsic::Pow, 1.0, 1.2};

std::vector<FunctionCase> all_functions() {
  std::vector<FunctionCase> all(std::begin(kUnary), std::end(kUnary));
  all.push_back(kPow);
  return all;
}

template <class T>
double limit_of(const FunctionCase& function) {
  return std::is_same_v<T, float> ? function.f32_ulps : function.f64_ulps;
}

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class Wide>
Wide true_value(Intrinsic function, Wide x, Wide y) {
  switch (function) {
    case Intrinsic::Exp:
      return std::exp(x);
    case Intrinsic::Log:
      return std::log(x);
    case Intrinsic::Tanh:
      return std::tanh(x);
    case Intrinsic::Erf:
      return std::erf(x);
    case Intrinsic::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Intrinsic::Rsqrt:
      return 1 / std::sqrt(x);
    default:
      return std::pow(x, y);
  }
}

// The distance of `got` from the true value in units in the last place of T. Infinity counts as the
// number after the largest; NaN and the sign of a zero must be right.
template <class T>
double ulps(T got, Wider<T> truth) {
  using Wide = Wider<T>;
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = 1e9;
  if (std::isnan(truth) || std::isnan(got))
    return std::isnan(truth) && std::isnan(got) ? 0 : kWrong;
  if (std::signbit(truth) != std::signbit(got)) return kWrong;
  const Wide beyond = std::ldexp(Wide{1}, Limits::max_exponent);
  const Wide size = std::min(std::abs(truth), beyond);
  const Wide distance = std::abs(std::min(std::abs(static_cast<Wide>(got)), beyond) - size);
  if (distance == 0) return 0;
  const int exponent =
      std::clamp(std::ilogb(size), Limits::min_exponent - 1, Limits::max_exponent - 1);
  return static_cast<double>(std::ldexp(distance, Limits::digits - 1 - exponent));
}

// The same where denormals count as zero: the true value is that of zeros, and where it is
// denormal, or the least normal number but for its rounding, 0 is right too.
template <class T>
double flushed_ulps(T got, Wider<T> truth) {
  using Limits = std::numeric_limits<T>;
  constexpr Wider<T> kEdge = Limits::min() * (1 + 4 * Wider<T>{Limits::epsilon()});
  const bool may_be_zero = got == 0 && std::abs(truth) < kEdge;
  return may_be_zero && std::signbit(got) == std::signbit(truth) ? 0 : ulps(got, truth);
}

template <class T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

ir::Function elementwise(Intrinsic function, ir::Scalar type, int64_t elements, unsigned lanes,
                         bool denormals) {
  const size_t inputs = function == Intrinsic::Pow ? 2 : 1;
  ir::Function result{
      .name = "elementwise", .buffers = {}, .arguments = {}, .argument_written = {}, .body = {}};
  result.denormals = denormals;
  const Expr k = ir::var("k");
  const Expr at = ir::ramp(k * int64_t{lanes}, 1, lanes);
  std::vector<Expr> values;
  for (ir::BufferId id = 0; id <= inputs; ++id) {
    const bool is_output = id == inputs;
    result.buffers.push_back(
        {.name = is_output ? "out" : "in", .element = {type, 1}, .shape = {elements}});
    result.arguments.push_back(id);
    result.argument_written.push_back(is_output);
    if (!is_output) values.push_back(ir::load(type, id, {at}));
  }
  const auto output = static_cast<ir::BufferId>(inputs);
  result.body = ir::make_for(k, ir::int_imm(elements / lanes), ir::ForKind::Serial,
                             ir::make_store(output, {at}, ir::call(function, std::move(values))));
  const Target target;
  lower::expand_functions(result, {target, {}});
  return result;
}

template <class T>
constexpr ir::Scalar kScalar = std::is_same_v<T, float> ? ir::Scalar::F32 : ir::Scalar::F64;

// An expanded function, compiled for batches of kBatch.
template <class T>
class Compiled {
 public:
  static constexpr size_t kBatch = 4096;
  using Batch = std::vector<T>;

  Compiled(Intrinsic function, const Target& target, bool denormals) {
    const auto lanes = static_cast<unsigned>(target.lanes(sizeof(T)));
    auto object = compile_llvm(elementwise(function, kScalar<T>, kBatch, lanes, denormals), target);
    CHECK(object.has_value(), "{}", object.error().message);
    object->denormals = denormals;
    auto kernel = runtime::Kernel::load(*object);
    CHECK(kernel.has_value(), "{}", kernel.error().message);
    kernel_.emplace(std::move(*kernel));
    binary_ = function == Intrinsic::Pow;
  }

  // `y` counts for functions of two arguments only.
  const Batch& operator()(const Batch& x, const Batch& y) {
    CHECK(x.size() == kBatch && y.size() == kBatch, "a batch of {}", x.size());
    std::copy(x.begin(), x.end(), x_.as<T>());
    std::copy(y.begin(), y.end(), y_.as<T>());
    void* unary[] = {x_.data(), out_.data()};
    void* binary[] = {x_.data(), y_.data(), out_.data()};
    (*kernel_)({.arguments = binary_ ? binary : unary,
                .workspace = nullptr,
                .pool = nullptr,
                .threads = 1,
                .reserved = 0});
    result_.assign(out_.as<T>(), out_.as<T>() + kBatch);
    return result_;
  }

 private:
  std::optional<runtime::Kernel> kernel_;
  runtime::AlignedBuffer x_{kBatch * sizeof(T)}, y_{kBatch * sizeof(T)}, out_{kBatch * sizeof(T)};
  bool binary_ = false;
  Batch result_;
};

// The features of the host, and those without AVX-512.
std::vector<Target> targets() {
  std::vector<Target> result = {host_target(1)};
  if (result[0].has(Feature::Avx512f)) {
    result.push_back(make_target(result[0].cpu()->features.without(Feature::Avx512f), 1));
  }
  return result;
}

bool exhaustive() {
  return std::getenv("TILEWRIGHT_EXHAUSTIVE") != nullptr;  // NOLINT: no thread sets it
}

// Runs batches of arguments, with denormals kept and flushed, and records the one with the
// largest error.
template <class T>
class Comparison {
 public:
  using Batch = std::vector<T>;
  static constexpr size_t kBatch = Compiled<T>::kBatch;

  explicit Comparison(Intrinsic function, bool all_targets = true) : function_(function) {
    for (const Target& target : targets()) {
      kept_.emplace_back(function, target, true);
      flushing_.emplace_back(function, target, false);
      if (!all_targets) break;
    }
  }

  void run(const Batch& x, const Batch& y) {
    const Batch& got = kept_[0](x, y);
    for (size_t k = 0; k < kBatch; ++k) {
      note(ulps(got[k], true_value<Wider<T>>(function_, x[k], y[k])), x[k], y[k]);
    }
    for (size_t other = 1; other < kept_.size(); ++other) expect_same(x, y, got, kept_[other]);
    const Batch& flushed_got = flushing_[0](x, y);
    for (size_t k = 0; k < kBatch; ++k) {
      const auto truth = true_value<Wider<T>>(function_, flushed(x[k]), flushed(y[k]));
      note(flushed_ulps(flushed_got[k], truth), x[k], y[k]);
    }
    for (size_t other = 1; other < kept_.size(); ++other) {
      expect_same(x, y, flushed_got, flushing_[other]);
    }
  }
  void run(const Batch& x) { run(x, x); }

  // Draws `batches` times kBatch arguments.
  template <class Draw>
  void run_drawn(int batches, Draw&& draw) {
    Batch x(kBatch), y(kBatch);
    for (int batch = 0; batch < batches; ++batch) {
      for (size_t k = 0; k < kBatch; ++k) std::tie(x[k], y[k]) = draw();
      run(x, y);
    }
  }

  void expect_within(double limit) const {
    const std::string text =
        fmt::format("{} of {}: {:.3f} ulp at {:a}, {:a}", ir::name_of(function_),
                    ir::name_of(kScalar<T>), worst_, worst_x_, worst_y_);
    EXPECT_LE(worst_, limit) << text;
    if (exhaustive()) fmt::print("{}\n", text);
  }

 private:
  void note(double error, T x, T y) {
    if (error > worst_) worst_ = error, worst_x_ = x, worst_y_ = y;
  }

  void expect_same(const Batch& x, const Batch& y, const Batch& got, Compiled<T>& other) {
    const Batch& also = other(x, y);
    for (size_t k = 0; k < kBatch; ++k) {
      if (std::isnan(got[k]) && std::isnan(also[k])) continue;
      ASSERT_TRUE(got[k] == also[k] && std::signbit(got[k]) == std::signbit(also[k]))
          << ir::name_of(function_) << " at " << x[k] << ", " << y[k] << ": " << got[k] << " or "
          << also[k];
    }
  }

  Intrinsic function_;
  std::vector<Compiled<T>> kept_, flushing_;  // per target
  double worst_ = 0;
  T worst_x_ = 0, worst_y_ = 0;
};

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}

class UnaryFunctions : public testing::TestWithParam<FunctionCase> {};

// One f32 of every 4096 consecutive bit patterns, so all exponents and signs; or all of them.
TEST_P(UnaryFunctions, F32WithinUlps) {
  const FunctionCase& function = GetParam();
  const bool all = exhaustive();
  Comparison<float> comparison(function.function, !all);
  Rng rng(1);
  std::vector<float> x(comparison.kBatch);
  const uint64_t step = all ? 1 : 4096;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += step * x.size()) {
    for (size_t k = 0; k < x.size(); ++k) {
      x[k] = from_bits<float>(first + k * step + (all ? 0 : rng.below(step)));
    }
    comparison.run(x);
  }
  comparison.expect_within(limit_of<float>(function));
}

// All exponents, and the range in which the functions change.
TEST_P(UnaryFunctions, F64WithinUlps) {
  const FunctionCase& function = GetParam();
  Comparison<double> comparison(function.function);
  Rng rng(2);
  const int more = exhaustive() ? 100 : 1;
  comparison.run_drawn(16 * more, [&] { return std::pair(from_bits<double>(rng.next()), 0.0); });
  for (const double range : {1.0, 6.0, 50.0, 760.0}) {
    comparison.run_drawn(8 * more, [&] { return std::pair((rng.uniform() * 2 - 1) * range, 0.0); });
  }
  comparison.expect_within(limit_of<double>(function));
}

INSTANTIATE_TEST_SUITE_P(All, UnaryFunctions, testing::ValuesIn(kUnary), [](const auto& info) {
  return std::string(ir::name_of(info.param.function));
});

template <class T>
void compare_powers() {
  constexpr double kExponents = std::is_same_v<T, float> ? 150 : 1075;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  Comparison<T> comparison(Intrinsic::Pow);
  Rng rng(3);
  const int batches = 12 * (exhaustive() ? 200 : 1);
  const auto bits = [&] { return from_bits<T>(rng.next()); };
  const auto sign = [&] { return rng.chance(0.5) ? -1 : 1; };
  // Any two numbers.
  comparison.run_drawn(batches, [&] { return std::pair(bits(), bits()); });
  // Results over the whole range: y = exponent of the result / log2(x).
  const auto with_result = [&](T x) {
    const double exponent = (rng.uniform() * 2 - 1) * kExponents;
    return std::pair(x, static_cast<T>(exponent / std::log2(static_cast<double>(x))));
  };
  comparison.run_drawn(2 * batches, [&] { return with_result(std::abs(bits())); });
  comparison.run_drawn(batches,
                       [&] { return with_result(static_cast<T>(0.5 + rng.uniform() * 1.5)); });
  // x near 1, down to its neighbors, and so a huge y.
  comparison.run_drawn(batches, [&] {
    const double offset = std::ldexp(1 + rng.uniform(), -static_cast<int>(rng.below(kDigits)));
    return with_result(std::abs(static_cast<T>(1 + sign() * offset)));
  });
  // Whole exponents of both signs of x.
  comparison.run_drawn(batches, [&] {
    const double x = sign() * std::exp2(rng.uniform() * 8 - 4);
    return std::pair(static_cast<T>(x), static_cast<T>(rng.between(-40, 40)));
  });
  comparison.expect_within(limit_of<T>(kPow));
}

TEST(Functions, PowF32WithinUlps) { compare_powers<float>(); }
TEST(Functions, PowF64WithinUlps) { compare_powers<double>(); }

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           T{0.5},
                           T{2.5},
                           Limits::denorm_min(),
                           Limits::min() / 2,
                           Limits::min(),
                           Limits::max(),
                           Limits::infinity(),
                           1 + Limits::epsilon(),
                           1 - Limits::epsilon() / 2,
                           std::ldexp(T{1}, Limits::digits) - 1,  // the largest odd number
                           std::ldexp(T{1}, Limits::digits)};
  const size_t positive = values.size();
  for (size_t k = 0; k < positive; ++k) values.push_back(-values[k]);
  values.push_back(Limits::quiet_NaN());
  values.push_back(-Limits::quiet_NaN());
  return values;
}

// All pairs, padded with the last one to whole batches.
template <class T>
void compare_special_values() {
  const std::vector<T> values = special_values<T>();
  std::vector<T> x, y;
  for (const T a : values) {
    for (const T b : values) x.push_back(a), y.push_back(b);
  }
  ASSERT_LE(x.size(), Compiled<T>::kBatch);
  x.resize(Compiled<T>::kBatch, x.back());
  y.resize(Compiled<T>::kBatch, y.back());
  for (const FunctionCase& function : all_functions()) {
    Comparison<T> comparison(function.function);
    comparison.run(x, y);
    comparison.expect_within(limit_of<T>(function));
  }
}

TEST(Functions, SpecialValuesF32) { compare_special_values<float>(); }
TEST(Functions, SpecialValuesF64) { compare_special_values<double>(); }

// Values that a program may rely on to be exact.
TEST(Functions, ExactValues) {
  const auto check = []<class T>(Intrinsic function, T x, T y, T expected) {
    Compiled<T> compiled(function, host_target(1), true);
    const std::vector<T> xs(compiled.kBatch, x), ys(compiled.kBatch, y);
    EXPECT_EQ(compiled(xs, ys)[0], expected) << ir::name_of(function) << " of " << x << ", " << y;
  };
  check(Intrinsic::Exp, 0.0F, 0.0F, 1.0F);
  check(Intrinsic::Exp, 0.0, 0.0, 1.0);
  check(Intrinsic::Log, 1.0F, 0.0F, 0.0F);
  check(Intrinsic::Log, 1.0, 0.0, 0.0);
  check(Intrinsic::Sigmoid, 0.0F, 0.0F, 0.5F);
  check(Intrinsic::Sigmoid, 1000.0, 0.0, 1.0);
  check(Intrinsic::Tanh, 20.0F, 0.0F, 1.0F);
  check(Intrinsic::Tanh, 1e-40F, 0.0F, 1e-40F);
  check(Intrinsic::Erf, -20.0, 0.0, -1.0);
  check(Intrinsic::Rsqrt, 0.25F, 0.0F, 2.0F);
  check(Intrinsic::Pow, 2.0F, -149.0F, 0x1p-149F);
  check(Intrinsic::Pow, -2.0, 1023.0, -0x1p1023);
  check(Intrinsic::Pow, -3.0F, 3.0F, -27.0F);
}

// The interpreter gives the same bits for any number of lanes.
TEST(Functions, EqualTheInterpreter) {
  const auto compare = []<class T>(const FunctionCase& function, T) {
    constexpr int64_t kElements = 3 * 16 * 4;
    Rng rng(4);
    std::vector<T> x(kElements), y(kElements);
    for (T& value : x) value = static_cast<T>((rng.uniform() * 2 - 1) * 20);
    for (T& value : y) value = static_cast<T>((rng.uniform() * 2 - 1) * 20);
    std::ranges::copy(special_values<T>(), x.begin());
    std::ranges::reverse_copy(special_values<T>(), y.begin());
    std::vector<Bytes> arguments = {bytes_of_values(x)};
    if (function.function == Intrinsic::Pow) arguments.push_back(bytes_of_values(y));
    arguments.push_back(bytes_of_values(x));
    for (const Target& target : targets()) {
      for (const unsigned lanes : {1U, 3U, 16U}) {
        for (const bool denormals : {false, true}) {
          run_both(elementwise(function.function, kScalar<T>, kElements, lanes, denormals),
                   arguments, target);
        }
      }
    }
  };
  for (const FunctionCase& function : all_functions()) {
    compare(function, float{});
    compare(function, double{});
  }
}

}  // namespace
}  // namespace tilewright::codegen
