// Disturbance: observes the machine while a kernel is timed: preemption of a thread of this process
// (involuntary context switches), more runnable threads than CPUs (a thread may have waited
// throughout), CPU time taken by the hypervisor (steal time, in ticks of 10 ms), and the clock
// speed (a short loop of multiply-adds). Not thread-safe.
#pragma once

#include <cstdint>

namespace tilewright::measure {

class Disturbance {
 public:
  Disturbance();
  ~Disturbance();
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;

  void begin_sample();
  // True if a thread of this process was preempted since begin_sample, or more
  // threads are runnable than there are CPUs.
  bool disturbed() const;

  void begin_trial();
  bool stolen() const;  // since begin_trial: the hypervisor took time from a CPU of this process

  // Runs the loop (about 25 us). Returns its speed relative to the best that this object has seen;
  // 1 is full speed.
  double clock();

 private:
  int64_t stolen_ticks() const;
  bool crowded() const;

  int stat_fd_ = -1;  // /proc/stat
  int load_fd_ = -1;  // /proc/loadavg
  int64_t cpus_ = 1;  // number of online CPUs
  int64_t switches_ = 0;
  int64_t ticks_ = 0;
  int64_t iterations_ = 0;  // of the loop
  double best_ns_ = 0;
};

// The field `steal` of the first line of /proc/stat; 0 if it is missing.
int64_t parse_steal(const char* text);
// The number of runnable threads in /proc/loadavg: 1 in `0.20 0.18 0.12 1/80 11206`; 0 if it is
// missing.
int64_t parse_runnable(const char* text);

}  // namespace tilewright::measure
