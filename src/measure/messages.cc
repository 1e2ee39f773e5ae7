#include "measure/messages.h"

#include "base/wire.h"

namespace tilewright::measure {
namespace {

constexpr size_t kSmallest = 8;  // every list item contains at least one number of this size

void write(WireWriter& to, const Hash128& hash) {
  to.number(hash.high);
  to.number(hash.low);
}
void read(WireReader& from, Hash128* hash) {
  hash->high = from.number<uint64_t>();
  hash->low = from.number<uint64_t>();
}

void write(WireWriter& to, const std::vector<double>& numbers) {
  to.count(numbers.size());
  for (const double number : numbers) to.number(number);
}
void read(WireReader& from, std::vector<double>* numbers) {
  numbers->resize(from.count(sizeof(double)));
  for (double& number : *numbers) number = from.number<double>();
}

void write(WireWriter& to, const FloatPermissions& permissions) {
  for (const bool permission :
       {permissions.reassociate, permissions.contract, permissions.approximate, permissions.fold,
        permissions.online_softmax, permissions.winograd, permissions.reduced_precision,
        permissions.denormals}) {
    to.number(permission);
  }
}
void read(WireReader& from, FloatPermissions* permissions) {
  for (bool* permission :
       {&permissions->reassociate, &permissions->contract, &permissions->approximate,
        &permissions->fold, &permissions->online_softmax, &permissions->winograd,
        &permissions->reduced_precision, &permissions->denormals}) {
    *permission = from.number<uint8_t>() != 0;
  }
}

void write(WireWriter& to, const record::StoredTask& task) {
  write(to, task.key);
  write(to, task.workload);
  to.text(task.text);
  write(to, task.permissions);
  to.text(task.target);
}
void read(WireReader& from, record::StoredTask* task) {
  read(from, &task->key);
  read(from, &task->workload);
  task->text = from.text();
  read(from, &task->permissions);
  task->target = from.text();
}

void write(WireWriter& to, const runtime::Launch& launch) {
  for (const int64_t blocks : launch.grid) to.number(blocks);
  for (const int64_t threads : launch.block) to.number(threads);
  to.number(launch.shared_bytes);
}
void read(WireReader& from, runtime::Launch* launch) {
  for (int64_t& blocks : launch->grid) blocks = from.number<int64_t>();
  for (int64_t& threads : launch->block) threads = from.number<int64_t>();
  launch->shared_bytes = from.number<int64_t>();
}

void write(WireWriter& to, const BuiltKernel& kernel) {
  to.text(kernel.artifact.kind);
  to.bytes(kernel.artifact.bytes);
  to.text(kernel.artifact.entry);
  to.number(kernel.artifact.shared_workspace);
  to.number(kernel.artifact.thread_workspace);
  to.number(kernel.artifact.abi_version);
  to.number(kernel.artifact.denormals);
  write(to, kernel.artifact.launch);
  to.count(kernel.packed.size());
  for (const PackedOperand& packed : kernel.packed) {
    to.number(uint64_t{packed.operand});
    to.number(packed.layout.free);
    to.count(packed.layout.digits.size());
    for (const layout::Digit& digit : packed.layout.digits) {
      to.number(uint64_t{digit.dim});
      to.number(digit.divisor);
      to.number(digit.extent);
    }
  }
}
void read(WireReader& from, BuiltKernel* kernel) {
  kernel->artifact.kind = from.text();
  kernel->artifact.bytes = from.bytes();
  kernel->artifact.entry = from.text();
  kernel->artifact.shared_workspace = from.number<int64_t>();
  kernel->artifact.thread_workspace = from.number<int64_t>();
  kernel->artifact.abi_version = from.number<int>();
  kernel->artifact.denormals = from.number<uint8_t>() != 0;
  read(from, &kernel->artifact.launch);
  kernel->packed.resize(from.count(kSmallest));
  for (PackedOperand& packed : kernel->packed) {
    packed.operand = static_cast<uint32_t>(from.number<uint64_t>());
    packed.layout.free = from.number<uint8_t>() != 0;
    packed.layout.digits.resize(from.count(kSmallest));
    for (layout::Digit& digit : packed.layout.digits) {
      digit.dim = static_cast<uint32_t>(from.number<uint64_t>());
      digit.divisor = from.number<int64_t>();
      digit.extent = from.number<int64_t>();
    }
  }
}

void write(WireWriter& to, const record::Protocol& protocol) {
  to.number(protocol.version);
  to.number(protocol.cache);
  to.number(protocol.interleaved);
  to.text(protocol.back_end);
}
void read(WireReader& from, record::Protocol* protocol) {
  protocol->version = from.number<int>();
  protocol->cache = from.number<record::CachePolicy>();
  protocol->interleaved = from.number<uint8_t>() != 0;
  protocol->back_end = from.text();
}

// An unknown kind becomes the last one, `device`.
record::VerdictKind read_kind(WireReader& from) {
  const auto kind = from.number<uint8_t>();
  return kind < record::kVerdictKinds ? static_cast<record::VerdictKind>(kind)
                                      : record::VerdictKind::Device;
}

void write(WireWriter& to, const RunOutcome& outcome) {
  to.number(outcome.verdict.kind);
  to.number(outcome.verdict.latency_ns);
  write(to, outcome.verdict.samples_ns);
  to.text(outcome.verdict.text);
  const record::Conditions& conditions = outcome.conditions;
  to.number(conditions.build_ns);
  to.number(conditions.check_ns);
  to.number(conditions.time_ns);
  to.number(conditions.disturbed);
  to.number(conditions.clock);
  to.number(conditions.load);
  to.number(outcome.kernel_ns);
}
void read(WireReader& from, RunOutcome* outcome) {
  outcome->verdict.kind = read_kind(from);
  outcome->verdict.latency_ns = from.number<double>();
  read(from, &outcome->verdict.samples_ns);
  outcome->verdict.text = from.text();
  record::Conditions& conditions = outcome->conditions;
  conditions.build_ns = from.number<double>();
  conditions.check_ns = from.number<double>();
  conditions.time_ns = from.number<double>();
  conditions.disturbed = from.number<int64_t>();
  conditions.clock = from.number<double>();
  conditions.load = from.number<double>();
  outcome->kernel_ns = from.number<double>();
}

WireWriter message(MessageKind kind) {
  WireWriter to;
  to.number(kind);
  return to;
}

// A message to a worker starts with its kind; a reply does not.
WireReader after_kind(std::string_view bytes) {
  WireReader from(bytes);
  from.number<MessageKind>();
  return from;
}

template <class Message>
Result<Message> finished(const WireReader& from, Message message) {
  if (!from.complete()) return fail(ErrorKind::Io, "a malformed message between processes");
  return message;
}

}  // namespace

Result<MessageKind> kind_of(std::string_view bytes) {
  if (bytes.empty() || static_cast<uint8_t>(bytes[0]) > static_cast<uint8_t>(MessageKind::Models)) {
    return fail(ErrorKind::Io, "a message of unknown kind");
  }
  return static_cast<MessageKind>(bytes[0]);
}

std::string encode(const TaskMessage& task) {
  WireWriter to = message(MessageKind::Task);
  write(to, task.task);
  to.text(task.operands_path);
  write(to, task.tolerance.absolute);
  write(to, task.tolerance.relative);
  to.number(task.memory);
  return std::move(to).take();
}
Result<TaskMessage> decode_task(std::string_view bytes) {
  WireReader from = after_kind(bytes);
  TaskMessage task;
  read(from, &task.task);
  task.operands_path = from.text();
  read(from, &task.tolerance.absolute);
  read(from, &task.tolerance.relative);
  task.memory = from.number<int64_t>();
  return finished(from, std::move(task));
}

std::string encode(const TaskReply& reply) {
  WireWriter to;
  to.text(reply.error);
  to.number(reply.resident_bytes);
  return std::move(to).take();
}
Result<TaskReply> decode_task_reply(std::string_view bytes) {
  WireReader from(bytes);
  TaskReply reply;
  reply.error = from.text();
  reply.resident_bytes = from.number<int64_t>();
  return finished(from, std::move(reply));
}

std::string encode(const BuildMessage& build) {
  WireWriter to = message(MessageKind::Build);
  to.text(build.trace);
  to.number(build.timeout_s);
  return std::move(to).take();
}
Result<BuildMessage> decode_build(std::string_view bytes) {
  WireReader from = after_kind(bytes);
  BuildMessage build;
  build.trace = from.text();
  build.timeout_s = from.number<double>();
  return finished(from, std::move(build));
}

std::string encode(const BuildReply& reply) {
  WireWriter to;
  to.number(reply.failure);
  to.text(reply.text);
  write(to, reply.kernel);
  to.number(reply.cpu_ns);
  to.number(reply.resident_bytes);
  return std::move(to).take();
}
Result<BuildReply> decode_build_reply(std::string_view bytes) {
  WireReader from(bytes);
  BuildReply reply;
  reply.failure = read_kind(from);
  reply.text = from.text();
  read(from, &reply.kernel);
  reply.cpu_ns = from.number<double>();
  reply.resident_bytes = from.number<int64_t>();
  return finished(from, std::move(reply));
}

std::string encode(const RunMessage& run) {
  WireWriter to = message(MessageKind::Run);
  to.number(run.job);
  to.count(run.kernels.size());
  for (const BuiltKernel& kernel : run.kernels) write(to, kernel);
  write(to, run.request.protocol);
  to.number(run.request.incumbent_ns);
  to.number(run.request.timeout_ns);
  to.number(run.request.censor_ns);
  to.number(run.rounds);
  to.number(run.round_ns);
  return std::move(to).take();
}
Result<RunMessage> decode_run(std::string_view bytes) {
  WireReader from = after_kind(bytes);
  RunMessage run;
  run.job = from.number<RunJob>();
  run.kernels.resize(from.count(kSmallest));
  for (BuiltKernel& kernel : run.kernels) read(from, &kernel);
  read(from, &run.request.protocol);
  run.request.incumbent_ns = from.number<double>();
  run.request.timeout_ns = from.number<double>();
  run.request.censor_ns = from.number<double>();
  run.rounds = from.number<int>();
  run.round_ns = from.number<double>();
  return finished(from, std::move(run));
}

std::string encode(const RunReply& reply) {
  WireWriter to;
  to.count(reply.outcomes.size());
  for (const RunOutcome& outcome : reply.outcomes) write(to, outcome);
  to.text(reply.error);
  to.number(reply.resident_bytes);
  return std::move(to).take();
}
Result<RunReply> decode_run_reply(std::string_view bytes) {
  WireReader from(bytes);
  RunReply reply;
  reply.outcomes.resize(from.count(kSmallest));
  for (RunOutcome& outcome : reply.outcomes) read(from, &outcome);
  reply.error = from.text();
  reply.resident_bytes = from.number<int64_t>();
  return finished(from, std::move(reply));
}

std::string encode(const ModelsMessage& models) {
  WireWriter to = message(MessageKind::Models);
  to.count(models.libraries.size());
  for (const std::string& library : models.libraries) to.text(library);
  to.number(models.threads);
  to.number(models.seed);
  to.number(models.seconds);
  return std::move(to).take();
}
Result<ModelsMessage> decode_models(std::string_view bytes) {
  WireReader from = after_kind(bytes);
  ModelsMessage models;
  models.libraries.resize(from.count(kSmallest));
  for (std::string& library : models.libraries) library = from.text();
  models.threads = from.number<int32_t>();
  models.seed = from.number<uint64_t>();
  models.seconds = from.number<double>();
  return finished(from, std::move(models));
}

std::string encode(const ModelsReply& reply) {
  WireWriter to;
  to.count(reply.timings.size());
  for (const ModelTiming& timing : reply.timings) {
    write(to, timing.runs_ns);
    write(to, timing.steps_ns);
    write(to, timing.low_ns);
    to.number(timing.share);
  }
  to.text(reply.error);
  return std::move(to).take();
}
Result<ModelsReply> decode_models_reply(std::string_view bytes) {
  WireReader from(bytes);
  ModelsReply reply;
  reply.timings.resize(from.count(kSmallest));
  for (ModelTiming& timing : reply.timings) {
    read(from, &timing.runs_ns);
    read(from, &timing.steps_ns);
    read(from, &timing.low_ns);
    timing.share = from.number<double>();
  }
  reply.error = from.text();
  return finished(from, std::move(reply));
}

}  // namespace tilewright::measure
