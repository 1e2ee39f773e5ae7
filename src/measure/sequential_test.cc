#include "measure/sequential_test.h"

#include <algorithm>
#include <cmath>

#include "base/quantile.h"

namespace tilewright::measure {
namespace {

constexpr size_t kMinOfLoser = 2, kMinSamples = 3, kMinOfContender = 5, kMaxSamples = 64;
constexpr double kFirstMargin = 1, kMargin = 0.5, kLastMargin = 0.03;
constexpr double kContends = 1.05, kNear = 1.3;
constexpr size_t kLowest = 3;  // samples that must agree
constexpr size_t kSettled = 8, kSettledContender = 12;
constexpr double kAgreement = 0.01, kAgreementOfContender = 0.005;
constexpr double kMinTime = 1e6, kMinTimeWhenNear = 4e6, kMinTimeUnlessQuiet = 6e6;
constexpr double kTime = 12e6, kTimeOfContender = 40e6;

}  // namespace

bool SequentialTest::add(double sample_ns, double elapsed_ns, bool quiet) {
  samples_.push_back(sample_ns);
  ascending_.insert(std::ranges::upper_bound(ascending_, sample_ns), sample_ns);
  const size_t count = samples_.size();
  if (count >= kMaxSamples) return true;
  if (elapsed_ns < min_time(quiet)) return false;
  if (clearly_slower()) return true;
  if (count < kMinSamples) return false;
  if (contends()) {
    if (count < kMinOfContender) return false;
    return elapsed_ns >= kTimeOfContender || (count >= kSettledContender && agrees());
  }
  return elapsed_ns >= kTime || (count >= kSettled && agrees());
}

double SequentialTest::min_time(bool quiet) const {
  if (!quiet) return kMinTimeUnlessQuiet;
  const bool near = incumbent_ns_ > 0 && ascending_.front() <= incumbent_ns_ * kNear;
  return near ? kMinTimeWhenNear : kMinTime;
}

bool SequentialTest::clearly_slower() const {
  const size_t count = samples_.size();
  if (incumbent_ns_ <= 0 || count < kMinOfLoser) return false;
  const double margin = count == kMinOfLoser
                            ? kFirstMargin
                            : std::max(kLastMargin, kMargin / static_cast<double>(count - 2));
  return ascending_.front() > incumbent_ns_ * (1 + margin);
}

bool SequentialTest::contends() const {
  return incumbent_ns_ <= 0 || ascending_.front() <= incumbent_ns_ * kContends;
}

bool SequentialTest::agrees() const {
  const double apart = contends() ? kAgreementOfContender : kAgreement;
  return ascending_[kLowest - 1] <= ascending_.front() * (1 + apart);
}

double SequentialTest::latency_ns() const { return quantile_of(ascending_, kLowQuantile); }

}  // namespace tilewright::measure
