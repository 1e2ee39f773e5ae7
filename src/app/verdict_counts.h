// How many candidates of a run got which verdict.
#pragma once

#include <array>
#include <cstddef>

#include "record/attempt.h"

namespace tilewright::app {

using VerdictCounts = std::array<size_t, record::kVerdictKinds>;  // by kind

}  // namespace tilewright::app
