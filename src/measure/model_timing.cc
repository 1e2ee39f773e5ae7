#include "measure/model_timing.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>

#include "measure/worker_process.h"
#include "runtime/host/model_library.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

constexpr int kPollMs = 50;

// A model in the worker, ready to run.
struct OpenModel {
  runtime::ModelLibrary library;
  ModelArrays arrays;
  runtime::ModelInstance instance;
};

Result<OpenModel> open_model(const std::string& path, const ModelsMessage& message) {
  runtime::ModelLibrary library = TRY(runtime::ModelLibrary::open(path));
  ModelArrays arrays = random_arrays(library.api(), message.seed);
  runtime::ModelInstance instance = TRY(runtime::make_instance(
      library.api(),
      {.threads = message.threads, .flags = TILEWRIGHT_MODEL_PIN_CALLER, .weights_path = nullptr}));
  return OpenModel{
      .library = std::move(library), .arrays = std::move(arrays), .instance = std::move(instance)};
}

Result<std::vector<ModelTiming>> open_and_time(const ModelsMessage& message, StatusBlock& status) {
  set_phase(status, "opening");
  std::vector<OpenModel> models;
  for (size_t k = 0; k < message.libraries.size(); ++k) {
    status.kernel = static_cast<int32_t>(k);
    models.push_back(TRY(open_model(message.libraries[k], message)));
  }
  set_phase(status, "running");
  std::vector<TimedModel> timed;
  timed.reserve(models.size());
  for (const OpenModel& one : models) {
    timed.push_back(
        {.api = &one.library.api(), .model = one.instance.get(), .arrays = &one.arrays});
  }
  return time_models(timed, {.seconds = message.seconds, .stop = {}, .at_work = [&](size_t k) {
                               status.kernel = static_cast<int32_t>(k);
                             }});
}

// `finals1.so: killed by SIGSEGV (Segmentation fault) while running`
std::string death_text(WorkerProcess& worker, std::span<const std::filesystem::path> libraries) {
  const std::string end = worker.reap(true);
  const auto at_work =
      std::clamp<int64_t>(worker.status().kernel, 0, static_cast<int64_t>(libraries.size()) - 1);
  const std::string phase = phase_text(worker.status());
  std::string text =
      fmt::format("{}: {}", libraries[static_cast<size_t>(at_work)].filename().string(), end);
  if (!phase.empty()) text += " while " + phase;
  if (const std::string said = worker.stderr_tail(); !said.empty()) text += ": " + said;
  return text;
}

}  // namespace

ModelsReply answer_models(const ModelsMessage& message, StatusBlock& status) {
  ModelsReply reply;
  Result<std::vector<ModelTiming>> timings = open_and_time(message, status);
  if (timings) {
    reply.timings = *std::move(timings);
  } else {
    reply.error = timings.error().message;
  }
  return reply;
}

Result<std::vector<ModelTiming>> time_libraries(std::span<const std::filesystem::path> libraries,
                                                const ModelTimingOptions& options) {
  if (libraries.empty()) return std::vector<ModelTiming>();
  ModelsMessage message{.libraries = {},
                        .threads = options.threads,
                        .seed = options.seed,
                        .seconds = options.seconds};
  for (const std::filesystem::path& library : libraries) {
    message.libraries.push_back(library.string());
  }
  const double begin_s = static_cast<double>(runtime::now_ns()) * 1e-9;
  WorkerProcess worker = TRY(WorkerProcess::start(
      {.program = options.workers / "tilewright-run-worker", .cpu = -1, .memory = 0}));
  worker.send(encode(message));  // receive reports a worker that is already dead
  while (true) {
    if (options.stop && options.stop()) return fail(ErrorKind::Io, "they were interrupted");
    Result<std::optional<std::string>> bytes = worker.receive();
    if (!bytes) return fail(ErrorKind::Io, death_text(worker, libraries));
    if (*bytes) {
      ModelsReply reply = TRY(decode_models_reply(**bytes));
      if (!reply.error.empty()) return fail(ErrorKind::Io, reply.error);
      if (reply.timings.size() == libraries.size()) return std::move(reply.timings);
      return fail(ErrorKind::Io, "not all libraries were timed");
    }
    if (static_cast<double>(runtime::now_ns()) * 1e-9 - begin_s > options.limit_s) {
      return fail(ErrorKind::Io, fmt::format("no result after {:.1f} s; the worker was ended: {}",
                                             options.limit_s, death_text(worker, libraries)));
    }
    pollfd waiting{.fd = worker.fd(), .events = worker.events(), .revents = 0};
    poll(&waiting, 1, kPollMs);
  }
}

}  // namespace tilewright::measure
