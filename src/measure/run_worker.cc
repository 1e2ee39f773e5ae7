#include "measure/run_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/system_error.h"
#include "measure/messages.h"
#include "measure/model_timing.h"
#include "measure/worker_side.h"

namespace tilewright::measure {
namespace {

class Runner {
 public:
  Runner(StatusBlock& status, std::span<const runtime::Loader> loaders)
      : status_(status), loaders_(loaders) {}

  std::string answer(std::string_view bytes) {
    const Result<MessageKind> kind = kind_of(bytes);
    if (kind && *kind == MessageKind::Task) {
      TaskReply reply;
      if (const Status status = read_task(bytes); !status) reply.error = status.error().message;
      reply.resident_bytes = resident_bytes();
      return encode(reply);
    }
    times_models_ = kind && *kind == MessageKind::Models;
    if (times_models_) return answer_models_message(bytes);
    RunReply reply = run(bytes);
    reply.resident_bytes = resident_bytes();
    return encode(reply);
  }

  std::string failed(std::string_view error) {
    if (times_models_) {
      return encode(ModelsReply{.timings = {},
                                .error = fmt::format("{} while {}", error, phase_text(status_))});
    }
    RunReply reply;
    reply.error = fmt::format("{} in {}", error, phase_text(status_));
    reply.resident_bytes = resident_bytes();
    return encode(reply);
  }

 private:
  Status read_task(std::string_view bytes) {
    set_phase(status_, "operands");
    const TaskMessage message = TRY(decode_task(bytes));
    Task task = TRY(record::task_of(message.task));
    const int fd = open(message.operands_path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
      const int code = errno;
      return system_error(fmt::format("cannot open {}", message.operands_path), code);
    }
    Result<SharedOperands> attached = SharedOperands::attach(task.workload, fd);
    close(fd);
    SharedOperands operands = TRY(std::move(attached));
    Workbench bench = TRY(Workbench::make(task, operands, message.tolerance, status_, loaders_));
    operands_ = std::move(operands);
    bench_ = std::move(bench);
    if (message.memory > 0) limit_memory(address_space_bytes() + message.memory);
    return {};
  }

  std::string answer_models_message(std::string_view bytes) {
    const Result<ModelsMessage> message = decode_models(bytes);
    if (message) return encode(answer_models(*message, status_));
    return encode(ModelsReply{.timings = {}, .error = message.error().message});
  }

  RunReply run(std::string_view bytes) {
    const Result<RunMessage> message = decode_run(bytes);
    if (!message || !bench_ || message->kernels.empty()) {
      return {.outcomes = {}, .error = "a run before its task", .resident_bytes = 0};
    }
    const BuiltKernel& kernel = message->kernels.front();
    const RunRequest& request = message->request;
    RunReply reply;
    switch (message->job) {
      case RunJob::Reference:
        reply.outcomes = {bench_->make_reference(kernel, request.timeout_ns, *operands_)};
        break;
      case RunJob::Check:
        reply.outcomes = {bench_->check(kernel, request.timeout_ns)};
        break;
      case RunJob::Measure:
        reply.outcomes = {bench_->measure(kernel, request)};
        break;
      case RunJob::Compare:
        reply.outcomes = bench_->compare(message->kernels, {.protocol = request.protocol,
                                                            .timeout_ns = request.timeout_ns,
                                                            .rounds = message->rounds,
                                                            .round_ns = message->round_ns});
        break;
    }
    return reply;
  }

  StatusBlock& status_;
  bool times_models_ = false;  // the current job
  std::span<const runtime::Loader> loaders_;
  std::optional<SharedOperands> operands_;
  std::optional<Workbench> bench_;
};

}  // namespace

int run_worker_main(int argument_count, char** arguments,
                    std::span<const runtime::Loader> loaders) {
  const WorkerSetup setup = set_up_worker(argument_count, arguments);
  Runner runner(*setup.status, loaders);
  return serve([&](std::string_view bytes) { return runner.answer(bytes); },
               [&](std::string_view error) { return runner.failed(error); });
}

}  // namespace tilewright::measure
