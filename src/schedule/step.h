// Step: one schedule transformation as a value. The list below is the only place that names all of
// them. Tags are append-only, because stored traces contain them.
#pragma once

#include <type_traits>
#include <variant>

#include "schedule/steps/annotate.h"
#include "schedule/steps/bind.h"
#include "schedule/steps/cache_read.h"
#include "schedule/steps/cache_write.h"
#include "schedule/steps/compute_at.h"
#include "schedule/steps/compute_inline.h"
#include "schedule/steps/compute_root.h"
#include "schedule/steps/follow_fused_split.h"
#include "schedule/steps/follow_split.h"
#include "schedule/steps/fuse.h"
#include "schedule/steps/pack.h"
#include "schedule/steps/prefetch.h"
#include "schedule/steps/prefetch_next.h"
#include "schedule/steps/reorder.h"
#include "schedule/steps/rfactor.h"
#include "schedule/steps/split.h"
#include "schedule/steps/tensorize.h"

namespace tilewright::schedule {

using Step = std::variant<Split, Fuse, Reorder, ComputeAt, ComputeInline, ComputeRoot, CacheRead,
                          CacheWrite, Annotate, Pack, Rfactor, FollowSplit, FollowFusedSplit, Bind,
                          Prefetch, Tensorize, PrefetchNext>;
static_assert(std::is_trivially_copyable_v<Step>);  // searches copy millions of traces

}  // namespace tilewright::schedule
