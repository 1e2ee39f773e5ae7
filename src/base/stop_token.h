// StopSource and StopToken: a request to stop, handed down by value. A source makes tokens; a token
// only answers whether its source was asked to stop. A request is never taken back. A token
// outlives its source. Both are safe to use from several threads; `request` is also safe in a
// signal handler, which std::stop_source is not.
//
//   StopSource source;
//   tune(options, listener, source.token());   // elsewhere: source.request()
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace tilewright {

class StopToken {
 public:
  StopToken() = default;  // never asked to stop
  bool requested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> flag) : flag_(std::move(flag)) {}
  std::shared_ptr<const std::atomic<bool>> flag_;
};

class StopSource {
 public:
  void request() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool requested() const { return flag_->load(std::memory_order_relaxed); }
  StopToken token() const { return StopToken(flag_); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free);
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace tilewright
