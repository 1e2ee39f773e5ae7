// VerdictCounts: the number of candidates of a run with each verdict.
#pragma once

#include <array>
#include <cstddef>

#include "record/attempt.h"

namespace tilewright::app {

using VerdictCounts = std::array<size_t, record::kVerdictKinds>;  // by kind

}  // namespace tilewright::app
