#include "app/operator_space.h"

#include <algorithm>

#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::app {

Result<Target> space_target_of(const TargetChoice& choice) {
  return target_of(choice, std::max(1, static_cast<int>(detect_machine().cpus.size())));
}

Result<OperatorSpace> operator_space(const std::string& what, const TargetChoice& target,
                                     const space::SpaceOptions& options) {
  Workload workload = TRY(parse_workload(what));
  const Target made_for = TRY(space_target_of(target));
  Task task{.workload = std::move(workload), .target = made_for};
  space::Space space = TRY(space::Space::make(task, options));
  return OperatorSpace{.task = std::move(task), .space = std::move(space)};
}

}  // namespace tilewright::app
