// A Runner holds the table of a compiled library in vectors and passes it to the same runtime. The
// runtime calls functions; a Runner calls kernels of another kind itself, step by step.
#include "deploy/runner.h"

#include <fmt/format.h>

#include <vector>

#include "deploy/table.h"
#include "runtime/host/kernel.h"

namespace tilewright::deploy {

struct Runner::Impl {
  const Program* program = nullptr;
  std::vector<runtime::Kernel> loaded;
  bool direct = true;            // all kernels are functions of this process
  runtime::AlignedBuffer arena;  // else: values between kernels
  std::string features;
  TableRows rows;
  std::vector<TilewrightTableKernel> kernels;
  std::vector<TilewrightTensorInfo> inputs, outputs;
  std::vector<const char*> titles;
  TilewrightModelTable table{};
  TilewrightModelApi api{};
  TilewrightModel* model = nullptr;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { tilewright_model_destroy(model); }

  Status load_kernels(std::span<const runtime::Loader> loaders);
  Status run_steps(std::span<const void* const> from, std::span<void* const> to) const;
  void make_table();
};

Status Runner::Impl::load_kernels(std::span<const runtime::Loader> loaders) {
  for (const ProgramKernel& kernel : program->kernels) {
    runtime::Kernel one = TRY(runtime::Kernel::load(kernel.artifact, loaders));
    direct = direct && one.entry() != nullptr;
    kernels.push_back({.function = one.entry(),
                       .shared_workspace = kernel.artifact.shared_workspace,
                       .thread_workspace = kernel.artifact.thread_workspace,
                       .tuned_ns = kernel.tuned_ns});
    loaded.push_back(std::move(one));
  }
  return {};
}

Status Runner::Impl::run_steps(std::span<const void* const> from, std::span<void* const> to) const {
  const auto address = [&](const Argument& argument) -> void* {
    const auto index = static_cast<size_t>(argument.index);
    void* begin = arena.data();
    if (argument.home == graph::Home::Input) begin = const_cast<void*>(from[index]);  // NOLINT
    if (argument.home == graph::Home::Output) begin = to[index];
    if (argument.home == graph::Home::Constant) begin = program->constants.data();
    return static_cast<std::byte*>(begin) + argument.offset;
  };
  for (const Step& step : program->steps) {
    std::vector<void*> arguments;
    arguments.reserve(step.arguments.size());
    for (const Argument& argument : step.arguments) arguments.push_back(address(argument));
    const int32_t status =
        runtime::call_once(loaded[step.kernel], arguments, program->target.threads());
    if (status != TILEWRIGHT_STATUS_OK) {
      return fail(ErrorKind::Io, fmt::format("kernel '{}' failed: status {}", step.title, status));
    }
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

  table = plain_table(*program, rows);
  table.cpu_features = features.c_str();
  table.kernels = kernels.data();
  table.steps = rows.steps.data();
  table.arguments = rows.arguments.data();
  table.constants = program->constants.data();

  api = plain_api(*program);
  api.name = program->name.c_str();
  api.inputs = inputs.data();
  api.outputs = outputs.data();
  api.step_titles = titles.data();
  api.create = tilewright_model_create;
  api.destroy = tilewright_model_destroy;
  api.error = tilewright_model_error;
  api.run = tilewright_model_run;
  api.run_dlpack = tilewright_model_run_dlpack;
  api.run_timed = tilewright_model_run_timed;
  api.memory = tilewright_model_memory;
  api.table = &table;
}

Result<Runner> Runner::load(const Program& program, std::span<const runtime::Loader> loaders) {
  auto impl = std::make_unique<Impl>();
  impl->program = &program;
  TRY(impl->load_kernels(loaders));
  if (!impl->direct) {
    impl->arena = runtime::AlignedBuffer(program.arena_bytes);
    return Runner(std::move(impl));
  }
  impl->make_table();
  const int32_t code = tilewright_model_create(&impl->api, nullptr, &impl->model);
  if (code != TILEWRIGHT_MODEL_OK) {
    return fail(code == TILEWRIGHT_MODEL_WRONG_CPU ? ErrorKind::Unsupported : ErrorKind::Io,
                tilewright_model_error(nullptr));
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
  if (!impl_->direct) {
    TRY(impl_->run_steps(from, to));
  } else if (tilewright_model_run(impl_->model, from.data(), to.data()) != TILEWRIGHT_MODEL_OK) {
    return fail(ErrorKind::Io, tilewright_model_error(impl_->model));
  }
  std::vector<graph::Constant> results;
  for (size_t k = 0; k < buffers.size(); ++k) {
    const std::span<const std::byte> bytes(buffers[k]->as<const std::byte>(),
                                           static_cast<size_t>(buffers[k]->size()));
    results.emplace_back(program.outputs[k].type, buffers[k], bytes);
  }
  return results;
}

const TilewrightModelApi* Runner::api() const { return impl_->direct ? &impl_->api : nullptr; }
TilewrightModel* Runner::model() const { return impl_->model; }

Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

}  // namespace tilewright::deploy
