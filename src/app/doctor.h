// examine_machine: describes this machine, measures its peaks, probes the back ends, and lists
// missing parts with the command that installs each. Measures for about two seconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "runtime/host/peak.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::app {

struct DoctorOptions {
  int threads = 0;                 // 0: all CPUs of the process
  double seconds = 0.3;            // per measurement
  deploy::BackEndTables tables{};  // their back ends are probed
};

struct MachineLimit {
  int threads = 1;
  runtime::FmaPeak fma;
  runtime::CopyBandwidth copy;
};

struct BackEndHealth {
  const codegen::BackEnd* back_end = nullptr;  // of DoctorOptions::tables
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
  std::string target_text;
  std::vector<MachineLimit> limits;   // 1 thread, then all
  std::string_view fma_instructions;  // instruction set of the measured multiply-adds
  std::vector<BackEndHealth> back_ends;
  std::vector<MissingPart> missing;
  bool stopped = false;  // by the token; then the report is not complete
};

class DoctorListener {
 public:
  virtual ~DoctorListener() = default;
  virtual void on_measuring(int /*threads*/) {}
};

// An error if the machine cannot be measured.
Result<MachineReport> examine_machine(const DoctorOptions& options, DoctorListener& listener,
                                      const StopToken& stop);

// The machine as the store describes it.
Json machine_json(const MachineReport& report);

}  // namespace tilewright::app
