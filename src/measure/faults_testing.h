// For fault injection: the possible faults of a candidate. A trace of the test's workload that
// splits the reduction, `split C k [f]`, selects fault f - 1; other traces are good. The build
// worker of the tests (bad_build_worker_testing.cc) misbehaves accordingly: in the compiler, or by
// returning a bad kernel, which the real run worker then executes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "record/attempt.h"
#include "schedule/trace.h"

namespace tilewright::measure::testing {

enum class Fault : uint8_t {
  // faults of the compiler
  CompilerLoops,
  CompilerTakesMemory,
  CompilerAborts,
  CompilerCrashes,
  CompilerThrows,
  CompilerExits,
  CompilerOverflowsStack,
  // faults of the kernel
  WritesBehind,
  WritesBefore,
  WritesFar,
  WritesInput,
  WritesBeforeInput,
  WritesNull,
  Divides,
  BadInstruction,
  Aborts,
  Exits,
  Loops,
  Sleeps,
  SleepsInParallel,
  TakesMemory,
  WrongResult,
  WritesNothing,
  BadStatus,
};

struct FaultRow {
  Fault fault;
  std::string_view kernel;  // function in bad_kernels_testing.c; empty: a fault of the compiler
  record::VerdictKind verdict;
  std::string_view text;  // a regular expression that the verdict's text matches
  bool needs_memory_limit = false;
};

inline constexpr std::array kFaults = {
    FaultRow{Fault::CompilerLoops, "", record::VerdictKind::BuildTimeout,
             // A starved machine reaches the limit of wall time first.
             "(more than .* s of CPU time|not answer in time and was killed); last pass: apply"},
    FaultRow{Fault::CompilerTakesMemory, "", record::VerdictKind::Build, "out of memory in apply",
             true},
    FaultRow{Fault::CompilerAborts, "", record::VerdictKind::Build, "SIGABRT.*last pass: apply"},
    FaultRow{Fault::CompilerCrashes, "", record::VerdictKind::Build, "SIGSEGV.*last pass: apply"},
    FaultRow{Fault::CompilerThrows, "", record::VerdictKind::Build, "injected exception in apply"},
    FaultRow{Fault::CompilerExits, "", record::VerdictKind::Build,
             "exited with status 9.*it said: injected last words"},
    FaultRow{Fault::CompilerOverflowsStack, "", record::VerdictKind::Build, "SIGSEGV"},
    FaultRow{Fault::WritesBehind, "bad_write_behind", record::VerdictKind::Crash,
             "guard zone of output C.*8 bytes behind"},
    FaultRow{Fault::WritesBefore, "bad_write_before", record::VerdictKind::Crash,
             "guard zone of output C.*9 bytes before"},
    FaultRow{Fault::WritesFar, "bad_write_far", record::VerdictKind::Crash,
             "SIGSEGV.*behind.*output C"},
    FaultRow{Fault::WritesInput, "bad_write_input", record::VerdictKind::Crash,
             "SIGSEGV.*read-only input A"},
    FaultRow{Fault::WritesBeforeInput, "bad_write_before_input", record::VerdictKind::Crash,
             "input A"},
    FaultRow{Fault::WritesNull, "bad_null", record::VerdictKind::Crash, "SIGSEGV.*0x0"},
    FaultRow{Fault::Divides, "bad_divide", record::VerdictKind::Crash, "SIGFPE"},
    FaultRow{Fault::BadInstruction, "bad_instruction", record::VerdictKind::Crash, "SIGILL"},
    FaultRow{Fault::Aborts, "bad_abort", record::VerdictKind::Crash, "SIGABRT"},
    FaultRow{Fault::Exits, "bad_exit", record::VerdictKind::Crash, "exited with status 0"},
    FaultRow{Fault::Loops, "bad_loop", record::VerdictKind::RunTimeout, "more than .* ms"},
    FaultRow{Fault::Sleeps, "bad_sleep", record::VerdictKind::RunTimeout, "more than .* ms"},
    FaultRow{Fault::SleepsInParallel, "bad_parallel_sleep", record::VerdictKind::Censored,
             "stopped in its first call"},
    FaultRow{Fault::TakesMemory, "bad_memory", record::VerdictKind::Crash, "SIGSEGV", true},
    FaultRow{Fault::WrongResult, "bad_result", record::VerdictKind::WrongResult,
             "C\\[0, 0\\] is 12345.*expected"},
    FaultRow{Fault::WritesNothing, "bad_nothing", record::VerdictKind::WrongResult,
             "C\\[0, 0\\] is .*nan"},
    FaultRow{Fault::BadStatus, "bad_status", record::VerdictKind::Crash, "status 7"},
};

inline const FaultRow* fault_of(const schedule::Trace& trace) {
  for (const schedule::Step& step : trace.steps) {
    const auto* split = std::get_if<schedule::Split>(&step);
    if (split == nullptr || split->loop != Name("k")) continue;
    const auto number = static_cast<size_t>(split->factors[0]) - 1;
    return number < kFaults.size() ? &kFaults[number] : nullptr;
  }
  return nullptr;
}

}  // namespace tilewright::measure::testing
