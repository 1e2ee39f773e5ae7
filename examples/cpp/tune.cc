// Tunes a model with a progress bar and Ctrl-C, and compiles it:
//   tune_model model.onnx model.so SECONDS STORE FOLDER_OF_THE_WORKER_PROGRAMS
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "app/compile.h"
#include "app/tune.h"

namespace app = tilewright::app;
static const tilewright::StopSource stop;  // request() is safe in a signal handler

struct Bar : app::TuneListener {
  void on_trial(const app::TuneProgress& now) override {
    const int filled = static_cast<int>(20 * now.elapsed_s / (now.elapsed_s + now.left_s));
    std::fprintf(stderr, "\r[%-20.*s] %zu trials, %s: %.1f us ", filled,
                 "====================", now.tally.trials(), now.tally.name.c_str(),
                 now.tally.best_ns / 1e3);
  }
};

static int failed(const tilewright::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  std::signal(SIGINT, [](int) { stop.request(); });
  Bar bar;
  const app::TuneOptions tuning = {
      .what = {argv[1]}, .records = argv[4], .workers = argv[5], .seconds = std::atof(argv[3])};
  const auto tuned = app::tune(tuning, bar, stop.token());
  if (!tuned) return failed(tuned.error());
  app::CompileListener silent;
  const auto compiled =
      app::compile({.model = {.what = argv[1]}, .records = argv[4], .output = argv[2]}, silent);
  if (!compiled) return failed(compiled.error());
  std::printf("%s: %zu trials%s, %zu kernels, %zu untuned\n", argv[2], tuned->tally.trials(),
              tuned->stopped ? " (stopped)" : "", compiled->kernels, compiled->untuned.size());
}
