#include "toy_model.h"

#include <array>
#include <cmath>

namespace tilewright::toys {
namespace {

constexpr size_t kWidth = 3;
using Sums = std::array<double, kWidth + 1>;  // of the rows, and 1

Sums sums_of(const feature::Encoded& rows, size_t program) {
  Sums sums{};
  sums[kWidth] = 1;
  for (uint32_t row = rows.begin[program]; row < rows.begin[program + 1]; ++row) {
    for (size_t k = 0; k < kWidth; ++k) sums[k] += rows.row(row)[k];
  }
  return sums;
}

struct LinearOptions {
  double ridge = 1e-3;

  static constexpr auto fields() {
    return std::tuple(option("ridge", &LinearOptions::ridge, "of the fit", {0, 1e3}));
  }
};

class Linear : public cost::CostModel {
 public:
  Linear(const LinearOptions& options, float sign) : options_(options), sign_(sign) {}

  std::vector<std::string> encodings() const override { return {"splits"}; }
  bool learns() const override { return true; }
  bool is_trained() const override { return trained_; }
  bool has_spread() const override { return true; }

  // Gauss and Jordan on the normal equations.
  Status train(const cost::Samples& samples) override {
    std::array<std::array<double, kWidth + 2>, kWidth + 1> a{};
    for (size_t k = 0; k <= kWidth; ++k) a[k][k] = options_.ridge + 1e-9;
    for (size_t n = 0; n < samples.size(); ++n) {
      if (samples.latency_ns[n] <= 0) continue;
      const Sums x = sums_of(samples.inputs.at(0), n);
      for (size_t i = 0; i <= kWidth; ++i) {
        for (size_t j = 0; j <= kWidth; ++j) a[i][j] += x[i] * x[j];
        a[i][kWidth + 1] -= x[i] * std::log2(samples.latency_ns[n]);
      }
    }
    for (size_t i = 0; i <= kWidth; ++i) {
      for (size_t r = 0; r <= kWidth; ++r) {
        if (r == i) continue;
        const double times = a[r][i] / a[i][i];
        for (size_t j = 0; j < kWidth + 2; ++j) a[r][j] -= times * a[i][j];
      }
    }
    for (size_t i = 0; i <= kWidth; ++i) weights_[i] = a[i][kWidth + 1] / a[i][i];
    trained_ = true;
    double squares = 0;
    for (size_t n = 0; n < samples.size(); ++n) {
      if (samples.latency_ns[n] <= 0) continue;
      const double off = value_of(samples.inputs[0], n) + std::log2(samples.latency_ns[n]);
      squares += off * off / static_cast<double>(samples.size());
    }
    spread_ = std::sqrt(squares);
    return {};
  }

  void predict(const feature::Inputs& inputs, const cost::Predictions& out) const override {
    for (size_t n = 0; n < out.mean.size(); ++n) {
      out.mean[n] = sign_ * static_cast<float>(value_of(inputs.at(0), n));
      out.spread[n] = static_cast<float>(spread_);
    }
  }

 private:
  double value_of(const feature::Encoded& rows, size_t program) const {
    const Sums x = sums_of(rows, program);
    double value = 0;
    for (size_t i = 0; i <= kWidth; ++i) value += weights_[i] * x[i];
    return value;
  }

  LinearOptions options_;
  float sign_;
  Sums weights_{};
  double spread_ = 0;
  bool trained_ = false;
};

}  // namespace

cost::ModelRow toy_model(float sign) {
  return make_row<std::unique_ptr<cost::CostModel>, cost::ModelContext>(
      "linear", "a linear function of splits", LinearOptions{},
      [sign](const cost::ModelContext&, const LinearOptions& options) {
        return std::make_unique<Linear>(options, sign);
      });
}

}  // namespace tilewright::toys
