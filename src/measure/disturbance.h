// What the machine did while a kernel was timed: was a thread of this process put aside for another
// (involuntary context switches), is there more to run than there are cpus (then a thread of ours
// may have waited all the time), was the cpu taken by the hypervisor (steal time, in ticks of
// 10 ms), how fast does it run (a short loop of multiply-adds)? Not to be shared between threads.
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
  // Since begin_sample a thread of this process was put aside, or others want the cpus now.
  bool disturbed() const;

  void begin_trial();
  bool stolen() const;  // since begin_trial: the hypervisor took a cpu that we may use

  // Runs the loop (some 25 us): its speed against the best that this object has seen, 1 = full.
  double clock();

 private:
  int64_t stolen_ticks() const;
  bool crowded() const;

  int stat_fd_ = -1;  // /proc/stat
  int load_fd_ = -1;  // /proc/loadavg
  int64_t cpus_ = 1;  // online
  int64_t switches_ = 0;
  int64_t ticks_ = 0;
  int64_t iterations_ = 0;  // of the loop
  double best_ns_ = 0;
};

// The field `steal` of the first line of /proc/stat; 0 when it is not there.
int64_t parse_steal(const char* text);
// Of /proc/loadavg, `0.20 0.18 0.12 1/80 11206`: the 1, which run or wait for a cpu; 0 when it is
// not there.
int64_t parse_runnable(const char* text);

}  // namespace tilewright::measure
