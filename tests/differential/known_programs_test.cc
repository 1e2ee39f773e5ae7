// Minimized programs that random runs found to fail; each is a separate case.
#include <gtest/gtest.h>

#include "program_check.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

struct KnownProgram {
  const char* what;
  const char* workload;
  const char* trace;
};

constexpr KnownProgram kPrograms[] = {
    {"a quotient where tiles overlap",
     "conv2d:n=1,h=5,w=2,ci=4,co=10,kernel=2,pad=1,groups=2,dtype=bf16",
     "cache_write Y\nsplit Y c [8] tail=overlap\nreorder Y [n, y, x, c.0]\n"
     "compute_at Y.write Y c.0\ncompute_at P Y.write y\n"},
    {"... of a transposed convolution",
     "conv2d_transpose:n=1,h=2,w=5,ci=2,co=2,kernel=4,stride=2,pad=0,output_padding=1",
     "split Y x [1, 2] tail=overlap\ncompute_at P Y x.2\n"},
    {"... of a tile of Winograd's, where it begins",
     "conv2d_winograd:n=1,h=3,w=7,ci=2,co=1,pad=1,m=4,weight=transformed,dtype=f64",
     "split Y x [4] tail=overlap\ncompute_at I Y x.1\n"},
    {"an overlap in a shorter tile", "matmul:m=15,n=13,k=8,dtype=i16,transpose_a=1,constant=B",
     "cache_write C\nsplit C i [1]\nsplit C j [7]\nreorder C [i.0, j.0, i.1, j.1]\n"
     "compute_at C.write C i.1\nsplit C.write j [1, 4] tail=overlap\n"},
    {"a nested split with parts of one trip in its tail",
     "conv2d_transpose:n=1,h=5,w=6,ci=4,co=5,kernel=1,stride=3,pad=0,output_padding=1",
     "cache_write Y\nsplit Y x [2, 1]\nsplit Y c [1, 2]\nsplit Y x.1 [2]\n"
     "compute_at Y.write Y c.1\n"},
    {"an expression inlined into its copy", "conv1d:l=3,ci=1,co=2,kernel=2,pad=1",
     "cache_write P\ncompute_inline P.write\n"},
    {"a padded fold of partial results", "softmax:m=2,n=3",
     "rfactor M k\nsplit M i [3] tail=pad\n"},
    {"a lane's value divided in an index",
     "conv2d:n=1,h=8,w=4,ci=6,co=4,kernel=2,stride=2,dilation=2,groups=2,dtype=f16",
     "reorder Y [ry, rx, rc, n, y, x, c]\nfuse Y [x, c]\nannotate Y (x,c) vectorize\n"},
    {"a copy attached under a padded fusion",
     "conv2d:n=2,h=6,w=9,ci=3,co=12,kernel=3,pad=1,groups=3,dtype=u8",
     "reorder Y [ry, rx, rc, n, y, x, c]\nfuse Y [rx, rc]\nsplit Y (rx,rc) [2] tail=mask\n"
     "cache_read W [Y]\ncompute_at W.read Y y\n"},
    {"... and one that does not depend on what is padded",
     "reduce:op=argmax,shape=8x5x4,axes=0x2,keep=1,dtype=f16",
     "cache_write Y\nfuse Y [j, k]\ncompute_at Y.write Y (j,k)\n"
     "split Y.write i [1, 2] tail=pad\nsplit Y.write k [1, 1]\ncache_read X [Y.write]\n"
     "compute_at X.read Y.write k.2\n"},
    {"a padded tile of a shorter row", "attention:b=2,heads=2,seq=5,dim=5",
     "split R i [1, 4]\nreorder R [b, i.0, i.1, h, i.2]\ncache_write S\n"
     "split S i [2] tail=pad\ncompute_at S R h\n"},
    {"products of bytes by lanes", "matmul:m=3,n=22,k=9,dtype=u8,dtype_b=i8,transpose_b=1",
     "cache_write C\nannotate C.write k vectorize\n"},
};

class KnownProgramTest : public ::testing::TestWithParam<KnownProgram> {};

TEST_P(KnownProgramTest, AgreesWithTheInterpreter) {
  const Result<Workload> workload = parse_workload(GetParam().workload);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  const Result<schedule::Trace> trace = schedule::trace_from_text(GetParam().trace);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const schedule::LoopTree initial = schedule::initial_tree(*workload).value();
  const Result<schedule::LoopTree> tree = schedule::apply_or_explain(initial, *trace);
  ASSERT_TRUE(tree.has_value()) << tree.error().message;
  ProgramChecker checker({*workload, host_target(2)}, 1);
  const auto failure = checker.check(*tree, *trace);
  EXPECT_FALSE(failure.has_value()) << GetParam().what << ": " << failure->text;
}

INSTANTIATE_TEST_SUITE_P(Found, KnownProgramTest, ::testing::ValuesIn(kPrograms));

}  // namespace
}  // namespace tilewright::testing
