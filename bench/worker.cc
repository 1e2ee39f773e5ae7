// Our worker of the benchmarks, over the line protocol of bench/protocol.h: a register-only FMA
// loop (the peak), copying and summing (the bandwidth), kernels that are built from the text of a
// trace, with sampled elements compared with the operator's definition, and compiled models.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/must_testing.h"
#include "codegen/back_ends/bound_kernel_testing.h"
#include "heuristic/default_trace.h"
#include "protocol.h"
#include "runtime/host/buffer.h"
#include "runtime/host/model_library.h"
#include "runtime/host/peak.h"
#include "runtime/host/thread_pool.h"
#include "sample_check.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::bench {
namespace {

// The same pool, threads and pinning as kernels have, so that peak and kernel meet one machine.
void on_threads(int threads, const std::function<void(int64_t)>& body) {
  const TilewrightTask task = [](void* context, int64_t iteration, int32_t) {
    (*static_cast<const std::function<void(int64_t)>*>(context))(iteration);
  };
  auto* context = const_cast<std::function<void(int64_t)>*>(&body);
  tilewright_parallel_for(nullptr, threads, threads, task, context);
}

Prepared prepare_peak(const Json& request) {
  const int threads = static_cast<int>(must(member<int64_t>(request, "threads")));
  constexpr int64_t kIterations = 300'000;  // about a millisecond
  const int64_t flop = threads * kIterations * runtime::fma_flop_per_iteration();
  return {.ready_json = "{\"flop\":" + std::to_string(flop) + "}",
          .call = [=] { on_threads(threads, [](int64_t) { runtime::fma_loop(kIterations); }); }};
}

Prepared prepare_copy(const Json& request) {
  const int threads = static_cast<int>(must(member<int64_t>(request, "threads")));
  const int64_t bytes = must(member<int64_t>(request, "bytes"));
  const bool by_memcpy = must(member<std::string>(request, "method")) == "memcpy";
  const auto from = std::make_shared<runtime::AlignedBuffer>(bytes);
  const auto to = std::make_shared<runtime::AlignedBuffer>(bytes);
  const int64_t floats = bytes / 4;
  return {.ready_json = "{\"bytes\":" + std::to_string(2 * bytes) + "}", .call = [=] {
            on_threads(threads, [&](int64_t part) {
              const int64_t begin = floats * part / threads;
              const int64_t count = floats * (part + 1) / threads - begin;
              const float* source = from->as<float>() + begin;
              float* target = to->as<float>() + begin;
              if (by_memcpy) {
                std::memcpy(target, source, static_cast<size_t>(count) * 4);
              } else {
                runtime::copy_with_vectors(target, source, count);
              }
            });
          }};
}

Prepared prepare_sum(const Json& request) {
  const int threads = static_cast<int>(must(member<int64_t>(request, "threads")));
  const int64_t bytes = must(member<int64_t>(request, "bytes"));
  const auto from = std::make_shared<runtime::AlignedBuffer>(bytes);
  const auto sums = std::make_shared<std::vector<float>>(static_cast<size_t>(threads));
  const int64_t floats = bytes / 4;
  return {.ready_json = "{\"bytes\":" + std::to_string(bytes) + "}", .call = [=] {
            on_threads(threads, [&](int64_t part) {
              const int64_t begin = floats * part / threads;
              const int64_t count = floats * (part + 1) / threads - begin;
              (*sums)[static_cast<size_t>(part)] =
                  runtime::sum_with_vectors(from->as<float>() + begin, count);
            });
          }};
}

// Reads an operand's file into the kernel's memory of it.
void read_operand(const std::string& path, runtime::AlignedBuffer& into) {
  const std::string bytes = must(read_file(path));
  if (static_cast<int64_t>(bytes.size()) != into.size()) {
    throw std::runtime_error(fmt::format("{} has {} bytes where the operator takes {}", path,
                                         bytes.size(), into.size()));
  }
  std::memcpy(into.data(), bytes.data(), bytes.size());
}

// The files of the request are assigned to the operands by order, because the operators name their
// operands differently.
void fill(const Workload& workload, const Json& request, codegen::BoundKernel& kernel) {
  const auto folder = must(member<std::string>(request, "input_dir"));
  const Json* inputs = find_member(request, "inputs");
  if (inputs == nullptr) throw std::runtime_error("a kernel needs the names of its inputs");
  const auto names = inputs->get<std::vector<std::string>>();
  size_t next = 0;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const Operand& operand = workload.operands[k];
    if (workload.dag->tensor(operand.tensor).element != ir::Scalar::F32) {
      throw std::runtime_error("the worker times f32 only");
    }
    if (operand.role == Role::Output) continue;
    if (next == names.size()) {
      throw std::runtime_error(
          fmt::format("{} takes more than the {} inputs given", workload.text, names.size()));
    }
    read_operand(folder + "/" + names[next++] + ".bin", kernel.operand(k));
  }
  if (next < names.size()) {
    throw std::runtime_error(
        fmt::format("{} takes {} inputs, not {}", workload.text, next, names.size()));
  }
  kernel.set_constants();
}

void write_output(const Workload& workload, codegen::BoundKernel& kernel, const std::string& path) {
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    std::ofstream file(path, std::ios::binary);
    file.write(kernel.operand(k).as<char>(), kernel.operand(k).size());
    if (!file) throw std::runtime_error("cannot write " + path);
  }
}

Prepared prepare_kernel(const Json& request) {
  Workload workload = must(parse_workload(must(member<std::string>(request, "op"))));
  const int threads = static_cast<int>(must(member<int64_t>(request, "threads")));
  const auto task = std::make_shared<Task>(Task{std::move(workload), host_target(threads)});
  const Json* text = find_member(request, "trace");
  const schedule::Trace trace =
      must(text != nullptr ? schedule::trace_from_text(text->get<std::string>())
                           : heuristic::default_trace(task->workload, task->target));
  const schedule::LoopTree initial = must(schedule::initial_tree(task->workload));

  const auto start = std::chrono::steady_clock::now();
  const schedule::LoopTree tree = must(schedule::apply_or_explain(initial, trace));
  const auto kernel =
      std::make_shared<codegen::BoundKernel>(must(codegen::BoundKernel::build(*task, tree, trace)));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;

  fill(task->workload, request, *kernel);
  if (kernel->run() != 0) throw std::runtime_error("the kernel failed");
  if (const Json* path = find_member(request, "output_file")) {
    write_output(task->workload, *kernel, path->get<std::string>());
  }
  Json ready = {{"compile_ms", took.count()}};
  if (const auto wrong = find_wrong_sample(task->workload, *kernel)) ready["wrong"] = *wrong;
  return {.ready_json = ready.dump(), .call = [task, kernel] { kernel->run(); }};
}

// A compiled model with the arrays of its inputs and outputs.
struct OpenModel {
  OpenModel(const std::string& path, int threads)
      : library(must(runtime::ModelLibrary::open(path))) {
    instance = must(runtime::make_instance(
        library.api(),
        {.threads = threads, .flags = TILEWRIGHT_MODEL_PIN_CALLER, .weights_path = nullptr}));
    const TilewrightModelApi& api = library.api();
    for (int32_t k = 0; k < api.input_count; ++k) {
      inputs.emplace_back(api.inputs[k].bytes);
      input_pointers.push_back(inputs.back().data());
    }
    for (int32_t k = 0; k < api.output_count; ++k) {
      outputs.emplace_back(api.outputs[k].bytes);
      output_pointers.push_back(outputs.back().data());
    }
  }

  void run() {
    const TilewrightModelApi& api = library.api();
    if (api.run(instance.get(), input_pointers.data(), output_pointers.data()) != 0) {
      throw std::runtime_error(api.error(instance.get()));
    }
  }

  runtime::ModelLibrary library;
  runtime::ModelInstance instance;
  std::vector<runtime::AlignedBuffer> inputs, outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
};

// The most memory that this process ever had, or has now: `VmHWM`, `VmRSS`; in KiB.
int64_t memory_kib(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what + ":")) return std::stoll(line.substr(what.size() + 1));
  }
  return 0;
}

void read_model_inputs(const Json& request, OpenModel& model) {
  const Json* inputs = find_member(request, "inputs");
  if (inputs == nullptr) throw std::runtime_error("a model needs its inputs");
  const TilewrightModelApi& api = model.library.api();
  for (int32_t k = 0; k < api.input_count; ++k) {
    const auto given = std::ranges::find_if(*inputs, [&](const Json& one) {
      return must(member<std::string>(one, "name")) == api.inputs[k].name;
    });
    if (given == inputs->end()) {
      throw std::runtime_error(fmt::format("the input {} is not given", api.inputs[k].name));
    }
    read_operand(must(member<std::string>(*given, "file")), model.inputs[static_cast<size_t>(k)]);
  }
}

Prepared prepare_model(const Json& request) {
  const int64_t before_kib = memory_kib("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  const auto model =
      std::make_shared<OpenModel>(must(member<std::string>(request, "library")),
                                  static_cast<int>(must(member<int64_t>(request, "threads"))));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  read_model_inputs(request, *model);
  model->run();
  const auto folder = must(member<std::string>(request, "output_dir"));
  for (size_t k = 0; k < model->outputs.size(); ++k) {
    const std::string path = fmt::format("{}/{}.bin", folder, k);
    std::ofstream file(path, std::ios::binary);
    file.write(model->outputs[k].as<char>(), model->outputs[k].size());
    if (!file) throw std::runtime_error("cannot write " + path);
  }
  const Json ready = {
      {"open_ms", took.count()}, {"before_kib", before_kib}, {"peak_kib", memory_kib("VmHWM")}};
  return {.ready_json = ready.dump(), .call = [model] { model->run(); }};
}

Prepared prepare(const std::string& text) {
  const Json request = must(parse_json(text));
  const std::string kind = must(member<std::string>(request, "kind"));
  if (kind == "model") return prepare_model(request);  // has a separate pool
  runtime::ThreadPool::process().pin_caller();
  if (kind == "peak") return prepare_peak(request);
  if (kind == "copy") return prepare_copy(request);
  if (kind == "sum") return prepare_sum(request);
  if (kind == "kernel") return prepare_kernel(request);
  throw std::runtime_error("unknown kind " + kind);
}

}  // namespace
}  // namespace tilewright::bench

int main() {
  tilewright::bench::serve(tilewright::bench::prepare);
  return 0;
}
