#include "measure/disturbance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "runtime/host/peak.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

constexpr double kLoopNs = 25e3;
constexpr int64_t kProbe = 2000;  // iterations of some 12 cycles

int64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

double loop_ns(int64_t iterations) {
  const int64_t begin = runtime::now_ns();
  runtime::fma_loop(iterations);
  return static_cast<double>(std::max<int64_t>(1, runtime::now_ns() - begin));
}

}  // namespace

int64_t parse_steal(const char* text) {
  int64_t steal = 0;
  const int fields = std::sscanf(text, "cpu %*d %*d %*d %*d %*d %*d %*d %" SCNd64, &steal);
  return fields == 1 ? steal : 0;
}

Disturbance::Disturbance() : stat_fd_(open("/proc/stat", O_RDONLY | O_CLOEXEC)) {
  loop_ns(kProbe);  // wakes the wide units
  const double probe = std::min(loop_ns(kProbe), loop_ns(kProbe));
  iterations_ = std::max<int64_t>(1, static_cast<int64_t>(kProbe * kLoopNs / probe));
  best_ns_ = loop_ns(iterations_);
  for (int k = 0; k < 3; ++k) clock();
  begin_sample();
  begin_trial();
}

Disturbance::~Disturbance() {
  if (stat_fd_ >= 0) close(stat_fd_);
}

void Disturbance::begin_sample() { switches_ = involuntary_switches(); }
bool Disturbance::disturbed() const { return involuntary_switches() != switches_; }
void Disturbance::begin_trial() { ticks_ = stolen_ticks(); }
bool Disturbance::stolen() const { return stolen_ticks() != ticks_; }

double Disturbance::clock() {
  const double ns = loop_ns(iterations_);
  best_ns_ = std::min(best_ns_, ns);
  return best_ns_ / ns;
}

int64_t Disturbance::stolen_ticks() const {
  char text[256];
  const ssize_t length = stat_fd_ < 0 ? -1 : pread(stat_fd_, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  return parse_steal(text);
}

}  // namespace tilewright::measure
