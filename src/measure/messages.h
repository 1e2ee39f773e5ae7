// The messages between the tuner and its workers. Values. encode and decode are inverse; decode
// returns an Error for malformed input.
//
//   tuner -> build worker   TaskMessage, then one BuildMessage per candidate   -> BuildReply
//   tuner -> run worker     TaskMessage, then one RunMessage per job           -> RunReply
//
//   tuner -> run worker     ModelsMessage, without a task                      -> ModelsReply
//
// A TaskMessage is answered by a TaskReply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "measure/built_kernel.h"
#include "measure/model_clock.h"
#include "measure/workbench.h"
#include "oracle/difference.h"
#include "record/attempt.h"
#include "record/store.h"

namespace tilewright::measure {

// The first byte of a message to a worker.
enum class MessageKind : uint8_t { Task, Build, Run, Models };

struct TaskMessage {
  record::StoredTask task;
  std::string operands_path;    // run worker: path of the SharedOperands
  oracle::Tolerance tolerance;  // run worker
  int64_t memory = 0;  // run worker: address space in bytes, in addition to its current size
};

struct TaskReply {
  std::string error;  // empty: ready
  int64_t resident_bytes = 0;
};

struct BuildMessage {
  std::string trace;  // text form
  double timeout_s = 0;
};

struct BuildReply {
  record::VerdictKind failure = record::VerdictKind::Timed;  // Timed: no failure
  std::string text;                                          // description of the failure
  BuiltKernel kernel;
  double cpu_ns = 0;
  int64_t resident_bytes = 0;
};

enum class RunJob : uint8_t { Reference, Check, Measure, Compare };

struct RunMessage {
  RunJob job = RunJob::Measure;
  std::vector<BuiltKernel> kernels;  // one, except for Compare
  RunRequest request;                // Compare: only protocol and timeout_ns
  int rounds = 0;                    // Compare
  double round_ns = 0;
};

struct RunReply {
  std::vector<RunOutcome> outcomes;
  std::string error;  // internal error of the worker; empty: none
  int64_t resident_bytes = 0;
};

// Compiled models to be timed in alternation (measure/model_clock.h).
struct ModelsMessage {
  std::vector<std::string> libraries;  // paths of .so files
  int32_t threads = 0;                 // 0: the number that each library was compiled for
  uint64_t seed = 1;                   // seed of the inputs
  double seconds = 1;                  // total of all models

  bool operator==(const ModelsMessage&) const = default;
};

struct ModelsReply {
  std::vector<ModelTiming> timings;
  std::string error;  // why there are no timings; empty: success

  bool operator==(const ModelsReply&) const = default;
};

std::string encode(const TaskMessage& message);
std::string encode(const TaskReply& reply);
std::string encode(const BuildMessage& message);
std::string encode(const BuildReply& reply);
std::string encode(const RunMessage& message);
std::string encode(const RunReply& reply);
std::string encode(const ModelsMessage& message);
std::string encode(const ModelsReply& reply);

Result<MessageKind> kind_of(std::string_view bytes);
Result<TaskMessage> decode_task(std::string_view bytes);
Result<TaskReply> decode_task_reply(std::string_view bytes);
Result<BuildMessage> decode_build(std::string_view bytes);
Result<BuildReply> decode_build_reply(std::string_view bytes);
Result<RunMessage> decode_run(std::string_view bytes);
Result<RunReply> decode_run_reply(std::string_view bytes);
Result<ModelsMessage> decode_models(std::string_view bytes);
Result<ModelsReply> decode_models_reply(std::string_view bytes);

}  // namespace tilewright::measure
