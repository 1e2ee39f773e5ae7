// Tunes a model with a progress bar and Ctrl-C, and compiles it.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "app/compile.h"
#include "app/tune.h"

namespace app = tilewright::app;
static const tilewright::StopSource kStop;  // request() is safe in a signal handler

struct Bar : app::TuneListener {
  void on_trial(const app::TuneProgress& now) override {
    const int filled = static_cast<int>(20 * now.elapsed_s / (now.elapsed_s + now.left_s));
    std::fprintf(stderr, "\r[%-20.*s] %zu trials, %s: %.1f us ", filled,
                 "====================", now.tally.trials(), now.tally.name.c_str(),
                 now.tally.best_ns / 1e3);
  }
  void on_search_end(const app::TuneProgress&) override { std::fputs("\n", stderr); }
} bar;

static int end(int code, const char* why) { return std::fprintf(stderr, "%s\n", why), code; }

int main(int argc, char** argv) {
  if (argc != 6)
    return end(2, "usage: tune_model MODEL.onnx MODEL.so SECONDS STORE WORKERS_FOLDER");
  char* rest = nullptr;
  const double seconds = std::strtod(argv[3], &rest);
  if (rest == argv[3] || *rest != '\0') return end(2, "SECONDS is a number, such as 60");
  std::signal(SIGINT, [](int) { kStop.request(); });
  const app::TuneOptions tuning = {
      .what = {argv[1]}, .records = argv[4], .workers = argv[5], .seconds = seconds};
  const auto tuned = app::tune(tuning, bar, kStop.token());
  if (!tuned) return end(1, tuned.error().message.c_str());
  if (!tuned->status) return end(1, tuned->status.error().message.c_str());  // after some trials
  app::CompileListener silent;
  const app::CompileOptions compiling = {
      .model = {.what = argv[1]}, .records = argv[4], .output = argv[2]};
  const auto compiled = app::compile(compiling, silent, kStop.token());
  if (!compiled) return end(1, compiled.error().message.c_str());
  if (compiled->stopped) return end(130, "stopped; the store has all trials, a new run resumes");
  std::printf("%s: %zu trials, %zu kernels, %zu untuned\n", argv[2], tuned->tally.trials(),
              compiled->kernels, compiled->untuned.size());
}
