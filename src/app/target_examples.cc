#include "app/target_examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "target/target_examples.h"

namespace tilewright::app {

std::string target_examples() { return fmt::format("{}", fmt::join(kTargetExamples, ", ")); }

}  // namespace tilewright::app
