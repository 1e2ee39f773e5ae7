#include "lower/expand_exp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

// Evaluates an expansion on many arguments at once, node by node.
template <class T>
class BatchEvaluator {
 public:
  using Batch = std::vector<T>;

  explicit BatchEvaluator(Batch x) : x_(std::move(x)) {
    const Expr argument = ir::var("x", type());
    ir::Stmt stmt = ir::make_store(0, {ir::int_imm(0)}, expand_exp(argument, bindings_));
    values_[argument.get()] = x_;
    for (stmt = bindings_.wrap(stmt); stmt.as<ir::Let>() != nullptr;) {
      const auto* let = stmt.as<ir::Let>();
      values_[let->var.get()] = evaluate(let->value);
      stmt = ir::Stmt(let->body);
    }
    result = evaluate(stmt.as<ir::Store>()->value);
  }

  Batch result;

 private:
  static ir::Type type() { return {sizeof(T) == 4 ? ir::Scalar::F32 : ir::Scalar::F64, 1}; }

  template <class F>
  Batch map(F&& f) const {
    Batch out(x_.size());
    for (size_t k = 0; k < out.size(); ++k) out[k] = f(k);
    return out;
  }

  Batch evaluate(const Expr& expr) {
    if (const auto* number = expr.as<ir::FloatImm>()) {
      return Batch(x_.size(), static_cast<T>(number->value));
    }
    if (expr.as<ir::Var>() != nullptr) return values_.at(expr.get());
    if (const auto* node = expr.as<ir::Fma>()) {
      const Batch a = evaluate(node->a), b = evaluate(node->b), c = evaluate(node->c);
      return map([&](size_t k) { return std::fma(a[k], b[k], c[k]); });
    }
    if (const auto* node = expr.as<ir::Select>()) {
      const auto* condition = node->condition.as<ir::Binary>();
      const Batch a = evaluate(condition->a), b = evaluate(condition->b);
      const Batch t = evaluate(node->if_true), f = evaluate(node->if_false);
      const bool less = condition->op == BinaryOp::Lt;
      CHECK(less || condition->op == BinaryOp::Gt, "an unknown comparison");
      return map([&](size_t k) { return (less ? a[k] < b[k] : a[k] > b[k]) ? t[k] : f[k]; });
    }
    if (const auto* node = expr.as<ir::Call>()) {
      CHECK(node->function == ir::Intrinsic::Ldexp, "an unknown function");
      const Batch a = evaluate(node->args[0]), n = evaluate(node->args[1]);
      return map([&](size_t k) {
        if (std::isnan(n[k])) return n[k];
        EXPECT_EQ(n[k], std::floor(n[k]));
        EXPECT_LE(std::abs(n[k]), T{1100});
        return std::ldexp(a[k], static_cast<int>(n[k]));
      });
    }
    const auto* node = expr.as<ir::Binary>();
    CHECK(node != nullptr && node->op == BinaryOp::Sub, "an unknown operation");
    const Batch a = evaluate(node->a), b = evaluate(node->b);
    return map([&](size_t k) { return a[k] - b[k]; });
  }

  Batch x_;
  Bindings bindings_;
  std::map<const ir::Node*, Batch> values_;
};

template <class T>
T exp_of(T x) {
  return BatchEvaluator<T>({x}).result[0];
}

// The distance of `got` from the true value in units in the last place of T.
template <class T, class Wide>
double ulps(T got, Wide truth) {
  const T rounded = static_cast<T>(truth);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : 1e9;
  const T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
  const Wide ulp = static_cast<Wide>(next) - static_cast<Wide>(std::abs(rounded));
  return static_cast<double>(std::abs(static_cast<Wide>(got) - truth) / ulp);
}

TEST(ExpandExp, SpecialValues) {
  const auto check = []<class T>(T) {
    const T infinity = std::numeric_limits<T>::infinity();
    EXPECT_EQ(exp_of(T{0}), T{1});
    EXPECT_EQ(exp_of(-T{0}), T{1});
    EXPECT_EQ(exp_of(infinity), infinity);
    EXPECT_EQ(exp_of(-infinity), T{0});
    EXPECT_EQ(exp_of(std::numeric_limits<T>::max()), infinity);
    EXPECT_EQ(exp_of(std::numeric_limits<T>::lowest()), T{0});
    EXPECT_EQ(exp_of(std::numeric_limits<T>::denorm_min()), T{1});
    EXPECT_TRUE(std::isnan(exp_of(std::numeric_limits<T>::quiet_NaN())));
  };
  check(float{});
  check(double{});
}

// All bit patterns with TILEWRIGHT_EXHAUSTIVE set, else every 257th.
TEST(ExpandExp, F32WithinUlps) {
  const uint64_t stride = std::getenv("TILEWRIGHT_EXHAUSTIVE") != nullptr ? 1 : 257;
  constexpr size_t kBatch = 8192;
  double worst = 0;
  float worst_at = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    std::vector<float> x;
    for (; x.size() < kBatch && bits < (uint64_t{1} << 32); bits += stride) {
      const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      // Beyond these nothing changes: SpecialValues.
      if (std::abs(value) < 120 && std::abs(value) > 1e-9F) x.push_back(value);
    }
    const std::vector<float> y = BatchEvaluator<float>(x).result;
    for (size_t k = 0; k < x.size(); ++k) {
      const double error = ulps(y[k], std::exp(static_cast<double>(x[k])));
      if (error > worst) worst = error, worst_at = x[k];
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LT(worst, 1.0) << "at " << worst_at;
}

TEST(ExpandExp, F64WithinUlps) {
  Rng rng(7);
  double worst = 0, worst_at = 0;
  for (int batch = 0; batch < 100; ++batch) {
    const double range = batch % 4 == 0 ? 1 : batch % 4 == 1 ? 30 : 760;
    std::vector<double> x;
    for (int k = 0; k < 8192; ++k) x.push_back((rng.uniform() * 2 - 1) * range);
    const std::vector<double> y = BatchEvaluator<double>(x).result;
    for (size_t k = 0; k < x.size(); ++k) {
      const double error = ulps(y[k], std::exp(static_cast<long double>(x[k])));
      if (error > worst) worst = error, worst_at = x[k];
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LT(worst, 1.0) << "at " << worst_at;
}

}  // namespace
}  // namespace tilewright::lower
