// CostModel: scores programs by their rows (feature/rows.h) without running them. Higher is better;
// scores of one task compare with each other, of different tasks they need not. A model sees
// samples, never a store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "feature/rows.h"

namespace tilewright::cost {

// Programs that were measured, with their rows. Programs of one task have the same `group`.
struct Samples {
  feature::RowBatch rows;
  std::vector<uint32_t> group;
  std::vector<double> latency_ns;  // 0: it failed (crash, time-out, wrong), which is a label too
  std::vector<float> weight;       // empty: 1 each; less for what others measured

  size_t size() const { return latency_ns.size(); }
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  virtual std::string_view name() const = 0;
  // Learns from all samples seen so far; called with all of them each time. The same samples and
  // seed give the same model.
  virtual Status train(const Samples& samples) = 0;
  // False: scores mean nothing yet.
  virtual bool is_trained() const = 0;
  // One score a program. May be called from several threads at once.
  virtual void predict(const feature::RowBatch& rows, std::span<float> scores) const = 0;
};

// How well scores ranked programs that were measured afterwards.
struct Quality {
  size_t programs = 0;
  double rank_correlation = 0;   // Spearman
  double pairwise_accuracy = 0;  // share of pairs in the right order
  size_t k = 0;
  double recall_at_k = 0;     // of the k best measured, the share among the k best by score
  double top1 = 0, top5 = 0;  // best latency of all / best latency among the 1, 5 best by score
};
// Without a k it is a quarter of the programs: with all of them recall would say nothing.
Quality quality_of(std::span<const float> scores, std::span<const double> latency_ns, size_t k = 0);

}  // namespace tilewright::cost
