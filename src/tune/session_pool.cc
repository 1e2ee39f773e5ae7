#include "tune/session_pool.h"

#include <algorithm>

namespace tilewright::tune {

bool SessionPool::is_open(const Task& task) const {
  const Hash128 key = task.key();
  return std::ranges::any_of(sessions_, [&](const auto& one) { return one.first == key; });
}

Result<measure::Session*> SessionPool::open(const Task& task) {
  const Hash128 key = task.key();
  const auto there = std::ranges::find_if(sessions_, [&](auto& one) { return one.first == key; });
  if (there != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, there);
    return &sessions_.front().second;
  }
  while (sessions_.size() >= most_open_) sessions_.pop_back();
  Result<measure::Session> session = measure::Session::start(task, store_, options_);
  if (!session) return std::unexpected(session.error());
  started_ += 1;
  sessions_.emplace_front(key, std::move(*session));
  return &sessions_.front().second;
}

}  // namespace tilewright::tune
