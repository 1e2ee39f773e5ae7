// Time: how a run of so many seconds shares them between trials and finals, and how finals fill
// what is left for them. The clock is the caller's. Others may ask whether trials are over while
// one thread sets how long finals take.
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

  // `now` gives seconds of any origin; the time begins at `begin_s`. 0 seconds: no limit.
  TimeBudget(double seconds, size_t tasks, double begin_s, std::function<double()> now);

  double used_s() const { return now_() - begin_s_; }
  double left_s() const;  // kNoEnd without a limit
  // The rest is for the finals.
  bool trials_are_over() const { return used_s() >= seconds_ - finals_s_; }
  // The shortest finals of a task take so long: slow kernels need more than the usual share. Where
  // even a quarter of the time is too little they are not held, and trials have that time too.
  void set_shortest_finals(double seconds);
  // For comparisons; what is still to be done afterwards has its time.
  double left_for_finals_s() const;

 private:
  double seconds_;
  double tasks_;
  // That is kept for finals, and for what comes after them. Proposing asks for it in another
  // thread.
  std::atomic<double> finals_s_ = 0;
  double begin_s_;
  std::function<double()> now_;
};

// One of those that are compared, as far as known from its trial.
struct Contestant {
  double build_s = 0;
  double check_s = 0;  // to run it once and compare: before its turns and after them
  double call_s = 0;
};

struct FinalsPlan {
  size_t contestants = 0;  // the first ones
  int rounds = 5;
  double round_ms = 40;  // of each, each round
};

// The turns that fit into the time: longer ones where there is more of it, up to four times
// `usual`; where there is less, shorter ones, then fewer contestants (two at least), then fewer
// rounds. No contestants: not even that fits. Without an end it is the usual.
FinalsPlan plan_finals(std::span<const Contestant> contestants, const FinalsPlan& usual,
                       double seconds);
// The shortest plan of the first two.
FinalsPlan shortest_finals(std::span<const Contestant> contestants);
// What a plan will take.
double seconds_of(const FinalsPlan& plan, std::span<const Contestant> contestants);

}  // namespace tilewright::tune
