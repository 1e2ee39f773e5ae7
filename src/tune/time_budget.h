// TimeBudget: divides the seconds of a run between trials and finals, and plans finals that fill
// their time. The caller provides the clock. trials_are_over() and trials_ended() may be called
// while another thread calls set_shortest_finals().
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>

namespace tilewright::tune {

class TimeBudget {
 public:
  static constexpr double kNoEnd = std::numeric_limits<double>::infinity();

  // `now` returns seconds since any origin; the run starts at `begin_s`. 0 seconds: no limit.
  TimeBudget(double seconds, size_t tasks, double begin_s, std::function<double()> now);

  double used_s() const { return now_() - begin_s_; }
  double left_s() const;  // kNoEnd if there is no limit
  // The remaining time is reserved for the finals.
  bool trials_are_over() const { return used_s() >= seconds_ - finals_s_; }
  // The stop of a search. Once trials were over it stays true, even if the finals then turn out to
  // need less time: a search that has seen a stop cannot continue.
  bool trials_ended() {
    if (trials_are_over()) trials_ended_ = true;
    return trials_ended_;
  }
  // The shortest finals of a task take `seconds`: slow kernels need more than the usual share. If a
  // quarter of the time is too short for them, no finals run, and the trials get that time.
  void set_shortest_finals(double seconds);
  // Time for comparisons, excluding the time reserved for work after them.
  double left_for_finals_s() const;

 private:
  double seconds_;
  double tasks_;
  // Reserved for the finals and the work after them. Read by the thread that proposes.
  std::atomic<double> finals_s_ = 0;
  std::atomic<bool> trials_ended_ = false;
  double begin_s_;
  std::function<double()> now_;
};

// One finalist, with its costs as known from its trial.
struct Contestant {
  double build_s = 0;
  double check_s = 0;  // one run and one comparison; done before its turns and after them
  double call_s = 0;
};

struct FinalsPlan {
  size_t contestants = 0;  // the first ones of the list
  int rounds = 5;
  double round_ms = 40;  // per contestant and round
};

// The finals that fit into `seconds`. With more time, turns are longer, up to four times `usual`.
// With less time, turns are shorter, then there are fewer contestants (at least two), then fewer
// rounds. 0 contestants: not even that fits. Without a limit: `usual`.
FinalsPlan plan_finals(std::span<const Contestant> contestants, const FinalsPlan& usual,
                       double seconds);
// The shortest plan for the first two contestants.
FinalsPlan shortest_finals(std::span<const Contestant> contestants);
// Estimated duration of a plan.
double seconds_of(const FinalsPlan& plan, std::span<const Contestant> contestants);

}  // namespace tilewright::tune
