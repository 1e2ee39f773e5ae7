// examine_machine: what this machine is, what it reaches at most, which back ends work, and what is
// missing with the command that gets it. Measures for about two seconds.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "runtime/host/peak.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::app {

struct DoctorOptions {
  int threads = 0;       // 0: all the process may use
  double seconds = 0.3;  // for each measurement
};

struct MachineLimit {
  int threads = 1;
  runtime::FmaPeak fma;
  runtime::CopyBandwidth copy;
};

struct BackEndHealth {
  const codegen::BackEnd* back_end = nullptr;
  Status status;
};

// Something this machine could have and has not.
struct MissingPart {
  std::string what;     // and why it matters
  std::string command;  // that gets it; empty when none can
};

struct MachineReport {
  Machine machine;
  Target target;
  std::vector<MachineLimit> limits;  // 1 thread, then all
  std::vector<BackEndHealth> back_ends;
  std::vector<MissingPart> missing;
};

class DoctorListener {
 public:
  virtual ~DoctorListener() = default;
  virtual void on_measuring(int /*threads*/) {}
};

// An error where the machine cannot be measured.
Result<MachineReport> examine_machine(const DoctorOptions& options, DoctorListener& listener);

}  // namespace tilewright::app
