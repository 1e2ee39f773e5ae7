// StopSource and StopToken: a request to stop, passed by value. A source creates tokens; a token
// only reports whether a stop was requested at its source. A request cannot be withdrawn. A token
// may outlive its source. Both are thread-safe; `request` is also async-signal-safe, which
// std::stop_source is not.
//
//   StopSource source;
//   tune(options, listener, source.token());   // elsewhere: source.request()
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/result.h"

namespace tilewright {

class StopToken {
 public:
  StopToken() = default;  // a token that is never stopped
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

// An error after a requested stop, for functions that cannot return a part of their result.
inline Status check_not_stopped(const StopToken& stop) {
  if (!stop.requested()) return {};
  return fail(ErrorKind::Io, "stopped");
}

}  // namespace tilewright
