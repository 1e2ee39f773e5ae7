// A toy model: a linear function of the sum of a program's rows of splits, fitted to -log2 latency;
// its spread is the root of the mean squared residual.
#pragma once

#include "cost/models.h"

namespace tilewright::toys {

// `sign` -1 inverts the predictions: a different model with the same name.
cost::ModelRow toy_model(float sign = 1);

}  // namespace tilewright::toys
