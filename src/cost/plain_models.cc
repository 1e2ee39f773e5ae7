#include "cost/plain_models.h"

#include <bit>

#include "base/check.h"
#include "base/hash.h"

namespace tilewright::cost {
namespace {

class RandomModel : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : seed_(seed) {}

  std::vector<std::string> encodings() const override { return {"features"}; }
  bool learns() const override { return false; }
  Status train(const Samples&) override { return {}; }
  bool is_trained() const override { return false; }
  void predict(const feature::Inputs& inputs, const Predictions& out) const override {
    const feature::Encoded& rows = inputs.front();
    CHECK(out.mean.size() == rows.programs(), "{} scores of {}", out.mean.size(), rows.programs());
    for (size_t program = 0; program < out.mean.size(); ++program) {
      Hasher hasher;
      hasher.add(seed_);
      for (size_t i = rows.begin[program] * rows.width; i < rows.begin[program + 1] * rows.width;
           ++i) {
        hasher.add(std::bit_cast<uint32_t>(rows.values[i]));
      }
      constexpr int kMantissa = 24;
      out.mean[program] = static_cast<float>(hasher.finish().low >> (64 - kMantissa)) * 0x1.0p-24F;
    }
  }

 private:
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<CostModel> make_random_model(uint64_t seed) {
  return std::make_unique<RandomModel>(seed);
}

ModelRow random_model() {
  return make_row<std::unique_ptr<CostModel>, ModelContext>(
      "random", "random scores, for comparison", NoOptions{},
      [](const ModelContext& context, const NoOptions&) -> Result<std::unique_ptr<CostModel>> {
        TRY(refuse_base(context, "random"));
        return make_random_model(context.seed);
      });
}

ModelRow no_model() {
  return make_row<std::unique_ptr<CostModel>, ModelContext>(
      "none", "no scores: the search uses only latencies", NoOptions{},
      [](const ModelContext& context, const NoOptions&) -> Result<std::unique_ptr<CostModel>> {
        TRY(refuse_base(context, "none"));
        return std::unique_ptr<CostModel>();
      });
}

}  // namespace tilewright::cost
