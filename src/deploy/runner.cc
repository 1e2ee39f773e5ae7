// A Runner holds the table of a compiled library in vectors and passes it to the same runtime. The
// runtime calls functions of this process; for other kernels, StepRunner takes its place.
#include "deploy/runner.h"

#include <fmt/format.h>

#include <vector>

#include "deploy/table.h"
#include "runtime/host/kernel.h"
#include "runtime/host/timer.h"

namespace tilewright::deploy {
namespace {

// The table of a Runner: also the loaded kernels.
struct LoadedTable : TilewrightModelTable {
  const Program* program = nullptr;
  std::vector<runtime::Kernel> loaded{};
};

// The TilewrightModel of kernels that only their loaders can call. Its static functions are those
// of a TilewrightModelApi.
class StepRunner {
 public:
  static int32_t create(const TilewrightModelApi* api, const TilewrightModelOptions* options,
                        TilewrightModel** model) {
    const auto& table = *static_cast<const LoadedTable*>(api->table);
    const int threads =
        options != nullptr && options->threads > 0 ? options->threads : api->threads;
    *model = reinterpret_cast<TilewrightModel*>(new StepRunner(table, threads));
    return TILEWRIGHT_MODEL_OK;
  }
  static void destroy(TilewrightModel* model) { delete of(model); }
  static const char* error(const TilewrightModel* model) {
    return model == nullptr ? "" : reinterpret_cast<const StepRunner*>(model)->error_.c_str();
  }
  static int32_t run(TilewrightModel* model, const void* const* inputs, void* const* outputs) {
    return of(model)->run_steps(inputs, outputs, nullptr);
  }
  static int32_t run_dlpack(TilewrightModel* model, const TilewrightDLTensor* const* /*inputs*/,
                            TilewrightDLTensor* const* /*outputs*/) {
    of(model)->error_ = "run_dlpack: a kernel is not a function of this process";
    return TILEWRIGHT_MODEL_BAD_ARGUMENT;
  }
  static int32_t run_timed(TilewrightModel* model, const void* const* inputs, void* const* outputs,
                           int64_t* step_ns) {
    return of(model)->run_steps(inputs, outputs, step_ns);
  }
  static int64_t memory(const TilewrightModel* model) {
    return reinterpret_cast<const StepRunner*>(model)->arena_.size();
  }

 private:
  StepRunner(const LoadedTable& table, int threads)
      : table_(table), threads_(threads), arena_(table.arena_bytes) {}

  static StepRunner* of(TilewrightModel* model) { return reinterpret_cast<StepRunner*>(model); }

  void* address_of(const Argument& argument, const void* const* inputs,
                   void* const* outputs) const {
    const auto index = static_cast<size_t>(argument.index);
    void* begin = arena_.data();
    if (argument.home == graph::Home::Input) begin = const_cast<void*>(inputs[index]);  // NOLINT
    if (argument.home == graph::Home::Output) begin = outputs[index];
    if (argument.home == graph::Home::Constant) begin = table_.program->constants.data();
    return static_cast<std::byte*>(begin) + argument.offset;
  }

  // `step_ns`: out, the times by the clock of the host; may be null.
  int32_t run_steps(const void* const* inputs, void* const* outputs, int64_t* step_ns) {
    int64_t before_ns = runtime::now_ns();
    for (const Step& step : table_.program->steps) {
      std::vector<void*> arguments;
      arguments.reserve(step.arguments.size());
      for (const Argument& argument : step.arguments) {
        arguments.push_back(address_of(argument, inputs, outputs));
      }
      const int32_t status = runtime::call_once(table_.loaded[step.kernel], arguments, threads_);
      if (status != TILEWRIGHT_STATUS_OK) {
        error_ = fmt::format("kernel '{}' failed: status {}", step.title, status);
        return TILEWRIGHT_MODEL_FAILED;
      }
      if (step_ns == nullptr) continue;
      const int64_t now_ns = runtime::now_ns();
      *step_ns++ = now_ns - before_ns;
      before_ns = now_ns;
    }
    return TILEWRIGHT_MODEL_OK;
  }

  const LoadedTable& table_;
  int threads_;
  runtime::AlignedBuffer arena_;
  std::string error_;
};

}  // namespace

struct Runner::Impl {
  const Program* program = nullptr;
  bool direct = true;  // all kernels are functions of this process
  std::string features;
  TableRows rows;
  std::vector<TilewrightTableKernel> kernels;
  std::vector<TilewrightTensorInfo> inputs, outputs;
  std::vector<const char*> titles;
  LoadedTable table{};
  TilewrightModelApi api{};
  TilewrightModel* model = nullptr;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (model != nullptr) api.destroy(model);
  }

  Status load_kernels(std::span<const runtime::Loader> loaders);
  void make_table();
  void make_api();
};

Status Runner::Impl::load_kernels(std::span<const runtime::Loader> loaders) {
  for (const ProgramKernel& kernel : program->kernels) {
    runtime::Kernel one = TRY(runtime::Kernel::load(kernel.artifact, loaders));
    direct = direct && one.entry() != nullptr;
    kernels.push_back({.function = one.entry(),
                       .shared_workspace = kernel.artifact.shared_workspace,
                       .thread_workspace = kernel.artifact.thread_workspace,
                       .tuned_ns = kernel.tuned_ns});
    table.loaded.push_back(std::move(one));
  }
  return {};
}

void Runner::Impl::make_table() {
  const auto infos_of = [](const std::vector<ProgramTensor>& tensors) {
    std::vector<TilewrightTensorInfo> infos;
    infos.reserve(tensors.size());
    for (const ProgramTensor& tensor : tensors) {
      infos.push_back(plain_info(tensor));
      infos.back().name = tensor.name.c_str();
      infos.back().shape = tensor.type.shape.data();
    }
    return infos;
  };
  inputs = infos_of(program->inputs);
  outputs = infos_of(program->outputs);
  titles.reserve(program->steps.size());
  for (const Step& step : program->steps) titles.push_back(step.title.c_str());
  features = needed_features(program->target);
  rows = table_rows(*program);

  static_cast<TilewrightModelTable&>(table) = plain_table(*program, rows);
  table.program = program;
  table.cpu_features = features.c_str();
  table.kernels = kernels.data();
  table.steps = rows.steps.data();
  table.arguments = rows.arguments.data();
  table.facts = rows.facts.data();
  table.constants = program->constants.data();
}

void Runner::Impl::make_api() {
  api = plain_api(*program);
  api.name = program->name.c_str();
  api.inputs = inputs.data();
  api.outputs = outputs.data();
  api.step_titles = titles.data();
  api.create = direct ? tilewright_model_create : StepRunner::create;
  api.destroy = direct ? tilewright_model_destroy : StepRunner::destroy;
  api.error = direct ? tilewright_model_error : StepRunner::error;
  api.run = direct ? tilewright_model_run : StepRunner::run;
  api.run_dlpack = direct ? tilewright_model_run_dlpack : StepRunner::run_dlpack;
  api.run_timed = direct ? tilewright_model_run_timed : StepRunner::run_timed;
  api.memory = direct ? tilewright_model_memory : StepRunner::memory;
  api.table = &table;
}

Result<Runner> Runner::load(const Program& program, std::span<const runtime::Loader> loaders) {
  auto impl = std::make_unique<Impl>();
  impl->program = &program;
  TRY(impl->load_kernels(loaders));
  impl->make_table();
  impl->make_api();
  const int32_t code = impl->api.create(&impl->api, nullptr, &impl->model);
  if (code != TILEWRIGHT_MODEL_OK) {
    return fail(code == TILEWRIGHT_MODEL_WRONG_CPU ? ErrorKind::Unsupported : ErrorKind::Io,
                impl->api.error(nullptr));
  }
  return Runner(std::move(impl));
}

Result<std::vector<graph::Constant>> Runner::run(std::span<const graph::Constant> inputs) {
  const Program& program = *impl_->program;
  if (inputs.size() != program.inputs.size()) {
    return fail(ErrorKind::BadInput, fmt::format("the model has {} inputs, {} were given",
                                                 program.inputs.size(), inputs.size()));
  }
  std::vector<const void*> from;
  from.reserve(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].type() != program.inputs[k].type) {
      return fail(ErrorKind::BadInput,
                  fmt::format("input '{}' is {}, not {}", program.inputs[k].name,
                              program.inputs[k].type.to_string(), inputs[k].type().to_string()));
    }
    from.push_back(inputs[k].bytes().data());
  }
  std::vector<std::shared_ptr<runtime::AlignedBuffer>> buffers;
  std::vector<void*> to;
  for (const ProgramTensor& output : program.outputs) {
    buffers.push_back(std::make_shared<runtime::AlignedBuffer>(output.type.bytes()));
    to.push_back(buffers.back()->data());
  }
  const TilewrightModelApi& api = impl_->api;
  if (api.run(impl_->model, from.data(), to.data()) != TILEWRIGHT_MODEL_OK) {
    return fail(ErrorKind::Io, api.error(impl_->model));
  }
  std::vector<graph::Constant> results;
  for (size_t k = 0; k < buffers.size(); ++k) {
    const std::span<const std::byte> bytes(buffers[k]->as<const std::byte>(),
                                           static_cast<size_t>(buffers[k]->size()));
    results.emplace_back(program.outputs[k].type, buffers[k], bytes);
  }
  return results;
}

const TilewrightModelApi& Runner::api() const { return impl_->api; }
TilewrightModel* Runner::model() const { return impl_->model; }

Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

}  // namespace tilewright::deploy
