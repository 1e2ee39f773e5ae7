// The half that a run worker links: bytes -> a program that the interpreter runs.
#include "codegen/interp/interp.h"
#include "runtime/host/loaders.h"
#include "runtime/host/timer.h"
#include "toy_code.h"
#include "toy_machine.h"

namespace tilewright::toys {
namespace {

constexpr int32_t kDeviceFault = 7;

class ToyCode : public runtime::LoadedCode {
 public:
  explicit ToyCode(ir::Function function) : function_(std::move(function)) {}

  int32_t call(const TilewrightCall& call) const override {
    const std::span<void* const> arguments(call.arguments, function_.arguments.size());
    return codegen::interpret(function_, arguments) ? TILEWRIGHT_STATUS_OK : kDeviceFault;
  }
  // The device's clock counts the time that it works, not what else the host does meanwhile.
  double time(const TilewrightCall& call, int64_t calls, int32_t* status) const override {
    const int64_t begin = runtime::thread_cpu_ns();
    for (int64_t k = 0; k < calls; ++k) *status |= this->call(call);
    return static_cast<double>(runtime::thread_cpu_ns() - begin);
  }

 private:
  ir::Function function_;
};

bool is_toy(const Target& target) { return target == *parse_target("cuda:sm_75"); }

Result<std::unique_ptr<runtime::LoadedCode>> load(const runtime::Artifact& artifact) {
  return std::make_unique<ToyCode>(TRY(decode(artifact.bytes)));
}

}  // namespace

const runtime::Loader& toy_loader() {
  static const runtime::Loader row = {.kind = "toy",
                                      .serves = is_toy,
                                      .runs_here = [](const Target&) { return Status(); },
                                      .load = load};
  return row;
}

std::vector<runtime::Loader> loaders_with_toy() {
  const std::span<const runtime::Loader> all = runtime::all_loaders();
  std::vector<runtime::Loader> rows(all.begin(), all.end());
  rows.push_back(toy_loader());
  return rows;
}

}  // namespace tilewright::toys
