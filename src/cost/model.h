// CostModel: scores programs without running them; higher is better. Scores are comparable within
// one task, not necessarily across tasks. A model sees samples, never a store, and names the
// encodings that it reads (feature/encoding.h). It is not bound to a task: one model may serve all
// tasks of a run. The table `models()` lists them (cost/models.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/quality.h"
#include "cost/samples.h"
#include "feature/encoded.h"

namespace tilewright::cost {

// Output of predict, one element of each per program.
struct Predictions {
  std::span<float> mean;
  std::span<float> spread{};  // standard deviation; empty unless the model predicts one
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Names of encodings, with options if they have any: at least one, each once. The inputs are in
  // this order.
  virtual std::vector<std::string> encodings() const = 0;

  // False: training has no effect.
  virtual bool learns() const = 0;
  // Trains on all samples so far; every call gets all of them. The same samples and seed give the
  // same model.
  virtual Status train(const Samples& samples) = 0;
  // False: scores are meaningless so far.
  virtual bool is_trained() const = 0;

  // True if it predicts a spread in addition to the mean.
  virtual bool has_spread() const { return false; }
  // May be called by several threads at once, but not during training.
  virtual void predict(const feature::Inputs& inputs, const Predictions& out) const = 0;

  // An error if it was trained on rows of another width or another version of an encoding. `inputs`
  // are without programs, in the order of `encodings`.
  virtual Status check_inputs(const feature::Inputs& /*inputs*/) const { return {}; }

  // True if it can be written to a file and start from one.
  virtual bool has_file() const { return false; }
  // The learned state as the text of a file, which its factory reads (ModelContext::base).
  virtual Result<std::string> file_text() const;
  // A copy that continues training from this state, with another seed; null if that is not
  // supported.
  virtual std::unique_ptr<CostModel> fork(uint64_t /*seed*/) const { return nullptr; }
};

// Only the means.
std::vector<float> scores_of(const CostModel& model, const feature::Inputs& inputs);

}  // namespace tilewright::cost
