// examine_machine: describes this machine, measures its peaks, probes the back ends, and lists
// missing parts with the command that installs each. Measures for about two seconds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "runtime/host/peak.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::app {

struct DoctorOptions {
  int threads = 0;       // 0: all CPUs of the process
  double seconds = 0.3;  // per measurement
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();  // to be probed
};

struct MachineLimit {
  int threads = 1;
  runtime::FmaPeak fma;
  runtime::CopyBandwidth copy;
};

struct BackEndHealth {
  const codegen::BackEnd* back_end = nullptr;  // of DoctorOptions::back_ends
  Status status;
};

// An optional part that is not installed.
struct MissingPart {
  std::string what;     // name, and why it matters
  std::string command;  // installs it; empty: no command does
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

// An error if the machine cannot be measured.
Result<MachineReport> examine_machine(const DoctorOptions& options, DoctorListener& listener);

}  // namespace tilewright::app
