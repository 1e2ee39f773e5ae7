#include "record/known_verdicts.h"

#include <algorithm>
#include <utility>

namespace tilewright::record {
namespace {

using Origin = KnownVerdict::Origin;

// True if a verdict takes precedence over the existing one.
bool replaces(Origin origin, int64_t end_us, const KnownVerdict& there) {
  if (origin != there.origin) return origin > there.origin;
  return origin == Origin::Before ? end_us >= there.end_us : end_us < there.end_us;
}

}  // namespace

Hash128 key_of_candidate(const Hash128& program, std::string_view trace) {
  return program != Hash128{} ? program : Hasher().add_text(trace).finish();
}

Result<KnownVerdicts> KnownVerdicts::load(Store& store, const Setting& setting, Viewpoint viewpoint,
                                          Recall recall) {
  KnownVerdicts known(store, setting, std::move(viewpoint), recall);
  known.version_seen_ = TRY(store.version_of_others());
  TRY(known.read());
  return known;
}

Status KnownVerdicts::read() {
  if (recall_ == Recall::Own) return {};
  return store_->for_each_attempt(setting_, [this](const Attempt& attempt) {
    const bool own = viewpoint_.runs.contains(attempt.run);
    const bool before = attempt.end_us < viewpoint_.begin_us;
    take(attempt, own ? Origin::Own : before ? Origin::Before : Origin::Later);
    return true;
  });
}

Status KnownVerdicts::refresh() {
  if (recall_ == Recall::Own) return {};
  const int64_t version = TRY(store_->version_of_others());
  if (version == version_seen_) return {};
  version_seen_ = version;
  others_write_ = true;
  return read();
}

const KnownVerdict* KnownVerdicts::peek(const Hash128& key) const {
  if (recall_ == Recall::None) return nullptr;
  const auto found = verdicts_.find(key);
  return found == verdicts_.end() ? nullptr : &found->second;
}

void KnownVerdicts::add(const Attempt& attempt) {
  viewpoint_.runs.insert(attempt.run);
  take(attempt, Origin::Own);
}

void KnownVerdicts::take(const Attempt& attempt, Origin origin) {
  if (attempt.verdict.kind == VerdictKind::Device) return;
  const Hash128 program =
      attempt.verdict.kind == VerdictKind::Illegal ? Hash128{} : attempt.program;
  const Hash128 key = key_of_candidate(program, attempt.trace);
  const auto there = verdicts_.find(key);
  if (there != verdicts_.end() && !replaces(origin, attempt.end_us, there->second)) return;
  verdicts_.insert_or_assign(key, KnownVerdict{.program = program,
                                               .trace = attempt.trace,
                                               .attempt = attempt.id(),
                                               .kind = attempt.verdict.kind,
                                               .latency_ns = attempt.verdict.latency_ns,
                                               .text = attempt.verdict.text,
                                               .build_ns = attempt.conditions.build_ns,
                                               .check_ns = attempt.conditions.check_ns,
                                               .end_us = attempt.end_us,
                                               .origin = origin});
}

std::vector<const KnownVerdict*> KnownVerdicts::before() const {
  std::vector<const KnownVerdict*> found;
  for (const auto& [key, one] : verdicts_) {
    if (one.origin == Origin::Before && one.kind != VerdictKind::Illegal) found.push_back(&one);
  }
  std::ranges::sort(found, {},
                    [](const KnownVerdict* one) { return std::pair(one->end_us, one->program); });
  return found;
}

std::vector<const KnownVerdict*> KnownVerdicts::fastest(size_t count) const {
  std::vector<const KnownVerdict*> timed;
  for (const auto& [key, one] : verdicts_) {
    if (one.kind == VerdictKind::Timed) timed.push_back(&one);
  }
  std::ranges::sort(
      timed, {}, [](const KnownVerdict* one) { return std::pair(one->latency_ns, one->program); });
  timed.resize(std::min(count, timed.size()));
  return timed;
}

}  // namespace tilewright::record
