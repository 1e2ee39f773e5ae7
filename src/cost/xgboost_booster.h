// XGBoost's C interface as two values that own what they name. What it refuses is our fault (the
// numbers were checked before), hence a CHECK. One thread in each: the trees do not depend on the
// number of threads.
#pragma once

#include <memory>
#include <span>

#include "cost/forest.h"

namespace tilewright::cost {

// Rows of `width` finite numbers each; the numbers are copied.
class XgboostMatrix {
 public:
  XgboostMatrix(std::span<const float> values, size_t width);

  size_t rows() const { return rows_; }

 private:
  friend class XgboostBooster;
  std::shared_ptr<void> handle_;
  size_t rows_;
};

struct BoosterOptions {
  int depth = 6;
  double eta = 0.25;
  double columns = 1;           // share drawn for each tree
  double min_child_weight = 1;  // hessian
  double lambda = 1;
  uint64_t seed = 1;
};

class XgboostBooster {
 public:
  XgboostBooster(const XgboostMatrix& matrix, const BoosterOptions& options);

  // Adds a tree that lowers the loss with these derivatives, one of each a row.
  void boost(std::span<float> gradient, std::span<float> hessian);
  // What the trees so far give for each row of the matrix; lives until the next call.
  std::span<const float> outputs();
  // The first `trees` trees, over columns of the matrix.
  Forest forest(size_t trees) const;
  // Of other rows, by the first `trees` trees. Thread-safe.
  void predict(std::span<const float> values, size_t trees, std::span<float> outputs) const;

 private:
  XgboostMatrix matrix_;
  size_t width_;
  std::shared_ptr<void> handle_;
};

}  // namespace tilewright::cost
