#include "cost/plain_models.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tilewright::cost {
namespace {

class RandomModel : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : seed_(seed) {}

  std::string_view name() const override { return "random"; }
  Status train(const Samples&) override { return {}; }
  bool is_trained() const override { return false; }
  void predict(const feature::RowBatch& rows, std::span<float> scores) const override {
    CHECK(scores.size() == rows.programs(), "{} scores of {}", scores.size(), rows.programs());
    const size_t width = rows.begin.back() == 0 ? 0 : rows.values.size() / rows.begin.back();
    for (size_t program = 0; program < scores.size(); ++program) {
      Hasher hasher;
      hasher.add(seed_);
      for (size_t i = rows.begin[program] * width; i < rows.begin[program + 1] * width; ++i) {
        hasher.add(std::bit_cast<uint32_t>(rows.values[i]));
      }
      constexpr int kMantissa = 24;
      scores[program] = static_cast<float>(hasher.finish().low >> (64 - kMantissa)) * 0x1.0p-24F;
    }
  }

 private:
  uint64_t seed_;
};

class NoModel : public CostModel {
 public:
  std::string_view name() const override { return "none"; }
  Status train(const Samples&) override { return {}; }
  bool is_trained() const override { return false; }
  void predict(const feature::RowBatch& rows, std::span<float> scores) const override {
    CHECK(scores.size() == rows.programs(), "{} scores of {}", scores.size(), rows.programs());
    std::ranges::fill(scores, 0.0F);
  }
};

}  // namespace

std::unique_ptr<CostModel> make_random_model(uint64_t seed) {
  return std::make_unique<RandomModel>(seed);
}
std::unique_ptr<CostModel> make_no_model() { return std::make_unique<NoModel>(); }

}  // namespace tilewright::cost
