#include "tune/session_pool.h"

#include <algorithm>

#include "base/clock.h"

namespace tilewright::tune {

double SessionPool::opening_s(const Task& task) const {
  const Hash128 key = task.key();
  if (std::ranges::any_of(sessions_, [&](const auto& one) { return one.first == key; })) return 0;
  const auto before = took_s_.find(key);
  return before != took_s_.end() ? before->second : 0;
}

Result<measure::Session*> SessionPool::open(const Task& task, record::KnownVerdicts& known) {
  const Hash128 key = task.key();
  const auto there = std::ranges::find_if(sessions_, [&](auto& one) { return one.first == key; });
  if (there != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, there);
    return &sessions_.front().second;
  }
  while (sessions_.size() >= max_open_) sessions_.pop_back();
  const double begin_s = seconds_now();
  measure::Session session = TRY(measure::Session::start(task, store_, options_, &known));
  took_s_[key] = seconds_now() - begin_s;
  started_ += 1;
  sessions_.emplace_front(key, std::move(session));
  return &sessions_.front().second;
}

}  // namespace tilewright::tune
