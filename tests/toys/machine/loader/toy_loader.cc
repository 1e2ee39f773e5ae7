#include "tests/toys/machine/loader/toy_loader.h"

#include "runtime/host/timer.h"
#include "tests/toys/machine/device/toy_device.h"

namespace tilewright::toys {
namespace {

constexpr int32_t kDeviceFault = 7;

class ToyCode : public runtime::LoadedCode {
 public:
  explicit ToyCode(ToyProgram program) : program_(std::move(program)) {}

  int32_t call(const TilewrightCall& call) const override {
    const std::span<void* const> arguments(call.arguments, program_.arguments());
    return program_.run(arguments) ? TILEWRIGHT_STATUS_OK : kDeviceFault;
  }
  // The clock of the device counts its working time, not other work of the host.
  double time(const TilewrightCall& call, int64_t calls, int32_t* status) const override {
    const int64_t begin = runtime::thread_cpu_ns();
    for (int64_t k = 0; k < calls; ++k) *status |= this->call(call);
    return static_cast<double>(runtime::thread_cpu_ns() - begin);
  }

 private:
  ToyProgram program_;
};

bool is_toy(const Target& target) { return target == toy_target(); }

Result<std::unique_ptr<runtime::LoadedCode>> load(const runtime::Artifact& artifact) {
  return std::make_unique<ToyCode>(TRY(ToyProgram::load(artifact.bytes)));
}

}  // namespace

Target toy_target() { return *parse_target("cuda:sm_75"); }

const runtime::Loader& toy_loader() {
  static const runtime::Loader row = {.kind = "toy",
                                      .serves = is_toy,
                                      .runs_here = [](const Target&) { return Status(); },
                                      .load = load};
  return row;
}

}  // namespace tilewright::toys
