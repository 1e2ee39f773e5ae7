// XGBoost's C interface as two values that own their handles. A rejected call is a bug here,
// because all numbers were checked before; hence a CHECK. Each uses one thread, so that the trees
// do not depend on the number of threads.
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
  double columns = 1;           // share of the columns drawn for each tree
  double min_child_weight = 1;  // minimum hessian of a leaf
  double lambda = 1;
  uint64_t seed = 1;
};

class XgboostBooster {
 public:
  XgboostBooster(const XgboostMatrix& matrix, const BoosterOptions& options);

  // Adds a tree that reduces the loss with these derivatives, one of each per row.
  void boost(std::span<float> gradient, std::span<float> hessian);
  // The output of the trees so far for each row of the matrix; valid until the next call.
  std::span<const float> outputs();
  // The first `trees` trees, over columns of the matrix.
  Forest forest(size_t trees) const;
  // Output of the first `trees` trees for other rows. Thread-safe.
  void predict(std::span<const float> values, size_t trees, std::span<float> outputs) const;

 private:
  XgboostMatrix matrix_;
  size_t width_;
  std::shared_ptr<void> handle_;
};

}  // namespace tilewright::cost
