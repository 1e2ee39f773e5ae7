#include "cost/model.h"

namespace tilewright::cost {

Result<std::string> CostModel::file_text() const {
  return fail(ErrorKind::Unsupported, "this cost model cannot be written to a file");
}

std::vector<float> scores_of(const CostModel& model, const feature::Inputs& inputs) {
  std::vector<float> scores(inputs.empty() ? 0 : inputs.front().programs());
  std::vector<float> spreads(model.has_spread() ? scores.size() : 0);
  model.predict(inputs, {.mean = scores, .spread = spreads});
  return scores;
}

}  // namespace tilewright::cost
