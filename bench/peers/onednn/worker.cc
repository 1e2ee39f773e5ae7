// The oneDNN peer: one workload through oneDNN's C++ interface, timed by the protocol of the
// benchmarks.
//
// It uses the fastest variant of oneDNN: each choice of layouts is timed once at `prepare`.
// Operands, activations included, are converted to the selected layout outside the timed call. The
// convolution is the direct algorithm, all arithmetic is f32. bench/harness/peers.py builds it.
#include <omp.h>

#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>

#include "bench/peers/onednn/operators.h"
#include "bench/protocol.h"

namespace onednn_peer {
namespace {

constexpr double kTrialSeconds = 0.1;

void call(Program& program, dnnl::stream& stream) {
  for (Step& step : program.steps) step.primitive.execute(stream, step.arguments);
  stream.wait();
}

void write_output(const memory& output, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(output.get_data_handle()),
             static_cast<std::streamsize>(output.get_desc().get_size()));
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::string implementations(const Program& program) {
  std::string names;
  for (const Step& step : program.steps)
    names += (names.empty() ? "" : " + ") + step.implementation;
  return names;
}

// The fastest of the variants that oneDNN supports.
struct Choice {
  std::shared_ptr<Program> program;
  std::string variant;
};

Choice choose(const std::vector<Variant>& variants, Context& context) {
  Choice best;
  auto best_ns = std::numeric_limits<std::int64_t>::max();
  std::string why_not = "no variant";
  for (const Variant& variant : variants) {
    try {
      auto program = std::make_shared<Program>(variant.make(context));
      const auto durations_ns =
          tilewright::bench::run_slice([&] { call(*program, context.stream()); }, kTrialSeconds);
      const std::int64_t median_ns = durations_ns[(durations_ns.size() - 1) / 2];
      if (median_ns >= best_ns) continue;
      best_ns = median_ns;
      best = {std::move(program), variant.name};
    } catch (const dnnl::error& e) {  // this variant is not supported; another may be
      why_not = variant.name + ": " + e.what();
    }
  }
  if (!best.program) throw std::runtime_error("oneDNN: " + why_not);
  return best;
}

tilewright::bench::Prepared prepare(const std::string& text) {
  const Json spec = Json::parse(text);
  omp_set_num_threads(spec.at("threads").get<int>());
  const auto context = std::make_shared<Context>(dnnl::engine(dnnl::engine::kind::cpu, 0),
                                                 spec.at("input_dir").get<std::string>());
  const Choice choice = choose(variants_of(spec), *context);
  const auto program = choice.program;
  if (spec.contains("output_file")) {
    write_output(program->output(*context), spec.at("output_file").get<std::string>());
  }
  const dnnl_version_t* version = dnnl_version();
  const Json ready = {
      {"version", std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                      std::to_string(version->patch)},
      {"detail", implementations(*program) + ", " + choice.variant}};
  return {ready.dump(), [program, context] { call(*program, context->stream()); }};
}

}  // namespace
}  // namespace onednn_peer

int main() { tilewright::bench::serve(onednn_peer::prepare); }
