#include "measure/disturbance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "runtime/host/peak.h"
#include "runtime/host/timer.h"

namespace tilewright::measure {
namespace {

constexpr double kLoopNs = 25e3;
constexpr int64_t kProbe = 2000;  // iterations of about 12 cycles

int64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// The start of a file in /proc, read again.
using Text = std::array<char, 256>;
bool read_text(int fd, Text& text) {
  const ssize_t length = fd < 0 ? -1 : pread(fd, text.data(), text.size() - 1, 0);
  text[length < 0 ? 0 : static_cast<size_t>(length)] = '\0';
  return length > 0;
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

int64_t parse_runnable(const char* text) {
  int64_t runnable = 0;
  return std::sscanf(text, "%*f %*f %*f %" SCNd64, &runnable) == 1 ? runnable : 0;
}

Disturbance::Disturbance()
    : stat_fd_(open("/proc/stat", O_RDONLY | O_CLOEXEC)),
      load_fd_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)),
      cpus_(sysconf(_SC_NPROCESSORS_ONLN)) {
  loop_ns(kProbe);  // powers up the wide vector units
  const double probe = std::min(loop_ns(kProbe), loop_ns(kProbe));
  iterations_ = std::max<int64_t>(1, static_cast<int64_t>(kProbe * kLoopNs / probe));
  best_ns_ = loop_ns(iterations_);
  for (int k = 0; k < 3; ++k) clock();
  begin_sample();
  begin_trial();
}

Disturbance::~Disturbance() {
  if (stat_fd_ >= 0) close(stat_fd_);
  if (load_fd_ >= 0) close(load_fd_);
}

void Disturbance::begin_sample() { switches_ = involuntary_switches(); }
bool Disturbance::disturbed() const { return involuntary_switches() != switches_ || crowded(); }
bool Disturbance::crowded() const {
  Text text;
  return read_text(load_fd_, text) && parse_runnable(text.data()) > cpus_;
}
void Disturbance::begin_trial() { ticks_ = stolen_ticks(); }
bool Disturbance::stolen() const { return stolen_ticks() != ticks_; }

double Disturbance::clock() {
  const double ns = loop_ns(iterations_);
  best_ns_ = std::min(best_ns_, ns);
  return best_ns_ / ns;
}

int64_t Disturbance::stolen_ticks() const {
  Text text;
  return read_text(stat_fd_, text) ? parse_steal(text.data()) : 0;
}

}  // namespace tilewright::measure
