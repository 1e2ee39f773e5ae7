// CostModel: scores programs without running them. Higher is better; scores of one task compare
// with each other, of different tasks they need not. A model sees samples, never a store, and names
// the encodings of a program that it reads (feature/encoding.h). It is bound to no task: one model
// may serve all tasks of a run. The table `models()` lists them (cost/models.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/quality.h"
#include "cost/samples.h"
#include "feature/encoded.h"

namespace tilewright::cost {

// Where predictions go, one of each a program.
struct Predictions {
  std::span<float> mean;
  std::span<float> spread{};  // standard deviation; empty unless the model has it
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  virtual std::string_view name() const = 0;
  // Names of rows of the table of encodings, with options where they have any. Its inputs come in
  // this order.
  virtual std::vector<std::string> encodings() const = 0;

  // False: training changes nothing.
  virtual bool learns() const = 0;
  // Learns from all samples seen so far; called with all of them each time. The same samples and
  // seed give the same model.
  virtual Status train(const Samples& samples) = 0;
  // False: scores mean nothing yet.
  virtual bool is_trained() const = 0;

  // Predictions have a spread besides the mean.
  virtual bool has_spread() const { return false; }
  // May be called from several threads at once, not while training.
  virtual void predict(const feature::Inputs& inputs, const Predictions& out) const = 0;

  // What it has learned as the text of a file, which its factory reads (ModelContext::base).
  virtual Result<std::string> file_text() const;
  // A model that goes on learning from where this one is, with another seed; null: it cannot.
  virtual std::unique_ptr<CostModel> fork(uint64_t /*seed*/) const { return nullptr; }
};

// The means alone.
std::vector<float> scores_of(const CostModel& model, const feature::Inputs& inputs);

}  // namespace tilewright::cost
