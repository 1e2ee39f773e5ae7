#include "schedule/rename_ops.h"

#include <gtest/gtest.h>

namespace tilewright::schedule {
namespace {

TEST(RenameOps, AllAtOnceAndNoLoops) {
  const Trace trace = trace_from_text(R"(
cache_write C
cache_read A [C.write, D]
split C.write A [4]
compute_at C.write C A.0
compute_at A.read C.write A.0
pack B C.write
prefetch C.write A.0 B 4
annotate E i parallel
)")
                          .value();
  const std::pair<Name, Name> names[] = {
      {Name("A"), Name("C")}, {Name("C"), Name("A")}, {Name("D"), Name("n1_Y")}};
  EXPECT_EQ(to_text(rename_ops(trace, names)), R"(cache_write A
cache_read C [A.write, n1_Y]
split A.write A [4]
compute_at A.write A A.0
compute_at C.read A.write A.0
pack B A.write
prefetch A.write A.0 B 4
annotate E i parallel
)");
}

}  // namespace
}  // namespace tilewright::schedule
