#include "measure/build_worker.h"

#include <fmt/format.h>

#include <optional>

#include "codegen/back_ends/build_kernel.h"
#include "measure/messages.h"
#include "measure/worker_side.h"
#include "runtime/host/timer.h"
#include "schedule/apply.h"

namespace tilewright::measure {
namespace {

using record::VerdictKind;

class Builder {
 public:
  Builder(StatusBlock& status, const BuildHooks& hooks) : status_(status), hooks_(hooks) {}

  std::string answer(std::string_view bytes) {
    const Result<MessageKind> kind = kind_of(bytes);
    if (kind && *kind == MessageKind::Task) return encode(set_task(bytes));
    BuildReply reply = build(bytes);
    limit_cpu_time(0);
    reply.resident_bytes = resident_bytes();
    return encode(reply);
  }

  // After an exception: a bug, or out of memory.
  std::string failed(std::string_view error) {
    limit_cpu_time(0);
    BuildReply reply =
        failure(VerdictKind::Build, fmt::format("{} in {}", error, phase_text(status_)));
    reply.resident_bytes = resident_bytes();
    return encode(reply);
  }

 private:
  static BuildReply failure(VerdictKind kind, std::string text) {
    BuildReply reply;
    reply.failure = kind;
    reply.text = std::move(text);
    return reply;
  }

  TaskReply set_task(std::string_view bytes) {
    TaskReply reply;
    if (const Status status = read_task(bytes); !status) reply.error = status.error().message;
    reply.resident_bytes = resident_bytes();
    return reply;
  }

  Status read_task(std::string_view bytes) {
    const TaskMessage message = TRY(decode_task(bytes));
    Task task = TRY(record::task_of(message.task));
    back_end_ = TRY(codegen::back_end_for(task.target, hooks_.back_ends));
    initial_ = TRY(schedule::initial_tree(task.workload));
    task_ = std::move(task);
    return {};
  }

  BuildReply build(std::string_view bytes) {
    const Result<BuildMessage> message = decode_build(bytes);
    if (!message || !task_) return failure(VerdictKind::Device, "a build before its task");
    const int64_t start = runtime::thread_cpu_ns();
    limit_cpu_time(message->timeout_s);
    set_phase(status_, "apply");
    const Result<schedule::Trace> trace = schedule::trace_from_text(message->trace);
    if (!trace) return failure(VerdictKind::Illegal, trace.error().message);
    const Result<schedule::LoopTree> tree = schedule::apply_or_explain(initial_, *trace);
    if (!tree) return failure(VerdictKind::Illegal, tree.error().message);
    if (hooks_.before) hooks_.before(*trace);

    BuildReply reply = compile(*trace, *tree);
    reply.cpu_ns = static_cast<double>(runtime::thread_cpu_ns() - start);
    if (reply.failure == VerdictKind::Timed && hooks_.after) hooks_.after(*trace, reply.kernel);
    return reply;
  }

  BuildReply compile(const schedule::Trace& trace, const schedule::LoopTree& tree) {
    const auto on_pass = [this](std::string_view pass) {
      set_phase(status_, fmt::format("lower: {}", pass));
    };
    const auto on_phase = [this](std::string_view phase) {
      set_phase(status_, fmt::format("{}: {}", back_end_->name, phase));
    };
    const Result<ir::Function> function =
        codegen::lower_for(*back_end_, *task_, tree, trace, {.on_pass = on_pass});
    if (!function) return failure(VerdictKind::Lower, function.error().message);
    Result<runtime::Artifact> artifact =
        codegen::compile(*back_end_, *function, task_->target, {.on_phase = on_phase});
    if (!artifact) return failure(VerdictKind::Build, artifact.error().message);
    BuildReply reply;
    reply.kernel = {.artifact = std::move(*artifact),
                    .packed = packed_operands(task_->workload, tree)};
    return reply;
  }

  StatusBlock& status_;
  const BuildHooks& hooks_;
  std::optional<Task> task_;
  const codegen::BackEnd* back_end_ = nullptr;  // for the task's target
  schedule::LoopTree initial_;
};

}  // namespace

int build_worker_main(int argument_count, char** arguments, const BuildHooks& hooks) {
  const WorkerSetup setup = set_up_worker(argument_count, arguments);
  for (const codegen::BackEnd& back_end : hooks.back_ends) {
    if (back_end.enter_worker != nullptr) back_end.enter_worker();
  }
  Builder builder(*setup.status, hooks);
  return serve([&](std::string_view bytes) { return builder.answer(bytes); },
               [&](std::string_view error) { return builder.failed(error); });
}

}  // namespace tilewright::measure
