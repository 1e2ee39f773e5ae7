#include "minimize.h"

#include "schedule/apply.h"

namespace tilewright::testing {
namespace {

using schedule::Factors;
using schedule::Tail;
using schedule::Trace;

class Minimizer {
 public:
  Minimizer(const schedule::LoopTree& initial, Trace trace, const StillFails& still_fails)
      : initial_(initial), best_(std::move(trace)), still_fails_(still_fails) {}

  Trace run() {
    while (drop_one() || shrink_one() || peel_one()) {
    }
    return best_;
  }

 private:
  // Takes the trace when it is legal and fails.
  bool accept(const Trace& trace) {
    schedule::LoopTree tree;
    if (schedule::apply(initial_, trace, &tree) || !still_fails_(tree, trace)) return false;
    best_ = trace;
    return true;
  }

  bool drop_one() {
    for (size_t k = best_.steps.size(); k-- > 0;) {
      if (accept(without(k))) return true;
    }
    return false;
  }

  // Without step `k` and those later ones that do not apply then.
  Trace without(size_t k) const {
    Trace trace;
    schedule::LoopTree tree;
    for (size_t step = 0; step < best_.steps.size(); ++step) {
      if (step == k) continue;
      trace.steps.push_back(best_.steps[step]);
      if (step < k) continue;
      const schedule::Illegal illegal = schedule::apply(initial_, trace, &tree);
      if (illegal && illegal.step == static_cast<int16_t>(trace.steps.size() - 1)) {
        trace.steps.pop_back();
      }
    }
    return trace;
  }

  bool shrink_one() {
    for (size_t k = 0; k < best_.steps.size(); ++k) {
      const auto* split = std::get_if<schedule::Split>(&best_.steps[k]);
      if (split == nullptr) continue;
      const Factors factors = split->factors;
      for (size_t f = 0; f < factors.size(); ++f) {
        for (int64_t smaller = 1; smaller < factors[f]; ++smaller) {
          Trace trace = best_;
          std::get<schedule::Split>(trace.steps[k]).factors[f] = smaller;
          if (accept(trace)) return true;
        }
      }
    }
    return false;
  }

  bool peel_one() {
    for (size_t k = 0; k < best_.steps.size(); ++k) {
      Trace trace = best_;
      const bool peels = std::visit(
          [](auto& step) {
            if constexpr (requires { step.tail; }) {
              return std::exchange(step.tail, Tail::Peel) != Tail::Peel;
            } else {
              return false;
            }
          },
          trace.steps[k]);
      if (peels && accept(trace)) return true;
    }
    return false;
  }

  const schedule::LoopTree& initial_;
  Trace best_;
  const StillFails& still_fails_;
};

}  // namespace

Trace minimize(const schedule::LoopTree& initial, const Trace& trace,
               const StillFails& still_fails) {
  return Minimizer(initial, trace, still_fails).run();
}

}  // namespace tilewright::testing
