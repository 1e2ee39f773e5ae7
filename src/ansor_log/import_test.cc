#include "ansor_log/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ansor_log/steps.h"
#include "base/json.h"
#include "record/record_testing.h"
#include "schedule/apply.h"

namespace tilewright::ansor_log {
namespace {

using namespace tilewright::record;           // NOLINT: as above
using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AnsorSteps : public ::testing::Test {
 protected:
  void use(const std::string& what) {
    workload_ = must(parse_workload(what));
    initial_ = must(schedule::initial_tree(workload_));
  }
  std::string convert(const std::string& steps) {
    Result<schedule::Trace> trace = trace_of_steps(must(parse_json(steps)), initial_);
    return trace ? schedule::to_text(*trace) : "refused: " + trace.error().message;
  }

  Workload workload_;
  schedule::LoopTree initial_;
};

TEST_F(AnsorSteps, StageNumbersFollowAnsor) {
  use("matmul:m=512,n=64,k=128");
  EXPECT_THAT(stage_names(initial_), ElementsAre("A", "B", "C"));
  use("conv2d:n=1,h=14,w=14,ci=32,co=32,kernel=3,stride=1,pad=1");
  EXPECT_THAT(stage_names(initial_), ElementsAre("X", "P", "W", "Y"));
}

TEST_F(AnsorSteps, AMatmulWithACache) {
  use("matmul:m=512,n=64,k=1024,constant=B");
  EXPECT_EQ(convert(R"([["CHW", 2, "local"],
      ["SP", 2, 0, 512, [1, 16, 4], 1], ["SP", 2, 4, 64, [1, 1, 32], 1],
      ["SP", 2, 8, 1024, [16], 1], ["RE", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]],
      ["FSP", 3, 0, 1, 2], ["FSP", 3, 3, 2, 2], ["RE", 3, [0, 3, 1, 4, 2, 5]],
      ["CA", 2, 3, 3], ["FU", 3, [0, 1, 2, 3]], ["AN", 3, 0, 3],
      ["PR", 2, 0, "auto_unroll_max_step$16"], ["AN", 2, 9, 2], ["AN", 3, 2, 2]])"),
            R"(cache_write C
split C.write i [1, 16, 4]
split C.write j [1, 1, 32]
split C.write k [16]
reorder C.write [i.0, j.0, i.1, j.1, k.0, i.2, j.2, k.1, i.3, j.3]
follow_split C i C.write i 3
follow_split C j C.write j 3
reorder C [i.0, j.0, i.1, j.1, i.2, j.2]
fuse C [i.0, j.0, i.1, j.1]
annotate C (i.0,j.0,i.1,j.1) parallel
annotate C.write j.3 vectorize
annotate C j.2 vectorize
compute_at C.write C (i.0,j.0,i.1,j.1)
pack B C.write
annotate C.write i.3 unroll
)");
}

TEST_F(AnsorSteps, AConvolution) {
  use("conv2d:n=1,h=14,w=14,ci=32,co=64,kernel=3,stride=1,pad=1");
  EXPECT_EQ(convert(R"([["CI", 1],
      ["SP", 3, 0, 1, [1], 1], ["SP", 3, 2, 14, [7], 1], ["SP", 3, 4, 14, [2], 1],
      ["SP", 3, 6, 64, [16], 1],
      ["RE", 3, [0, 2, 4, 6, 8, 9, 10, 1, 3, 5, 7]], ["FU", 3, [0, 1, 2, 3]],
      ["AN", 3, 0, 3], ["AN", 3, 7, 2]])"),
            R"(compute_inline P
split Y n [1]
split Y y [7]
split Y x [2]
split Y c [16]
reorder Y [n.0, y.0, x.0, c.0, ry, rx, rc, n.1, y.1, x.1, c.1]
fuse Y [n.0, y.0, x.0, c.0]
annotate Y (n.0,y.0,x.0,c.0) parallel
annotate Y c.1 vectorize
pack W Y
)");
}

TEST_F(AnsorSteps, RfactorOfAReduction) {
  use("reduce:shape=8x1024,axes=1,op=sum");
  const std::vector<std::string> stages = stage_names(initial_);
  ASSERT_EQ(stages.size(), 2u);
  const std::string text = convert(R"([["SP", 1, 1, 1024, [16], 1], ["RF", 1, 2, 1],
      ["RE", 1, [0, 2, 1]], ["AN", 1, 0, 3], ["AN", 1, 2, 2]])");
  EXPECT_THAT(text, HasSubstr("rfactor " + stages[1]));
  EXPECT_THAT(text, HasSubstr("annotate " + stages[1] + ".rfactor"));
}

TEST_F(AnsorSteps, CacheReadAndLaterSteps) {
  use("matmul:m=64,n=64,k=64");
  EXPECT_EQ(convert(R"([["SP", 2, 0, 64, [8], 1], ["CHR", 1, "shared", [2]], ["CA", 2, 3, 0],
      ["CHR", 0, "shared", [3]], ["FU", 1, [0, 1]], ["CA", 3, 4, 3], ["AN", 4, 0, 3],
      ["CR", 3]])"),
            R"(split C i [8]
cache_read B [C]
cache_read A [C]
fuse A.read [d0, d1]
annotate C i.0 parallel
)");
}

TEST_F(AnsorSteps, SplitByNumberOfParts) {
  use("matmul:m=64,n=60,k=64");
  EXPECT_EQ(convert(R"([["SP", 2, 0, 64, [4, 2], 0]])"), "split C i [2, 8]\n");
}

TEST_F(AnsorSteps, UnconvertibleStepsGiveAReason) {
  use("matmul:m=64,n=64,k=64");
  const std::pair<const char*, const char*> cases[] = {
      {R"([["SP", 2, 0, 512, [8], 1]])",
       "step 0 [\"SP\",2,0,512,[8],1]: loop i of C has 64 iterations, in the log 512"},
      {R"([["SP", 7, 0, 64, [8], 1]])", "there is no stage 7; stages are A, B, C"},
      {R"([["SP", 2, 9, 64, [8], 1]])", "C has no loop 9"},
      {R"([["SP", 2, 0, 64, [0], 1]])", "not positive"},
      {R"([["SP", 2, 0, 64, ["x"], 1]])", "is not an integer"},
      {R"([["SP", 2, 0, 64]])", "is not a list"},
      {R"([["RE", 2, [0, 0, 1]]])", "not a permutation of all loops"},
      {R"([["RE", 2, [0, 1]]])", "not a permutation of all loops"},
      {R"([["FU", 2, [0, 2]]])", "not neighbors"},
      {R"([["FU", 2, []]])", "no loops"},
      {R"([["FSP", 2, 0, 5, 1]])", "not a split"},
      {R"([["FSP", 2, 0, 0, 1]])", "not a split"},
      {R"([["AN", 2, 0, 11]])", "annotation 11"},
      {R"([["AN", 2, 2, 3]])", ""},
      {R"([["SA", 2, 0, 1, 1]])", "storage_align"},
      {R"([["XX", 2]])", "'XX' is not a known step"},
      {R"([["PR", 2, 0, "tensor_core"]])", "pragma 'tensor_core'"},
      {R"([["CI", 2]])", ""},
      {R"([["CA", 0, 2, 0]])", ""},
      {R"([5])", "a step is an array"},
      {R"({})", "not a list"},
  };
  for (const auto& [steps, why] : cases) {
    const std::string text = convert(steps);
    EXPECT_THAT(text, ::testing::StartsWith("refused: ")) << steps;
    EXPECT_THAT(text, HasSubstr(why)) << steps;
  }
}

TEST(AnsorLog, RecordsAreImportedAsTracesNotAttempts) {
  const ScratchFolder folder;
  const auto record = [](int factor, const std::string& result) {
    return fmt::format(
        R"({{"i": [["[\"matmul\", 64, 64, 64]", "llvm"], [[], [["SP", 2, 0, 64, [{}], 1]]]], )"
        R"("r": {}, "v": "v0.6"}})"
        "\n",
        factor, result);
  };
  std::ofstream(folder / "log.json")
      << "# a comment\n\n"
      << record(4, "[[0.02, 0.01], 0, 1.5, 1600000000]")
      << record(8, "[[0.005], 0, 1.5, 1600000001]") << record(8, "[[0.006], 0, 1.5, 1600000002]")
      << record(16, "[[1e10], 4, 10.0, 1600000003]") << record(0, "[[0.1], 0, 1.5, 1600000004]")
      << "nonsense\n"
      << "{\"i\": []}\n";
  const Task task = task_for("matmul:m=64,n=64,k=64");
  Store store = must(Store::open(folder / "a.db"));
  const ImportReport report = must(import_log(opened(store), task, folder / "log.json"));
  EXPECT_EQ(report.records, 7);
  EXPECT_EQ(report.converted, 2);
  EXPECT_EQ(report.again, 1);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.refused, 3);
  ASSERT_EQ(report.named.size(), 3u);
  EXPECT_EQ(report.named[0].number, 7);
  EXPECT_EQ(print_traces(report.traces),
            "# Ansor: 0.005 s, [\"matmul\", 64, 64, 64]\nsplit C i [8]\n---\n"
            "# Ansor: 0.01 s, [\"matmul\", 64, 64, 64]\nsplit C i [4]\n");
  EXPECT_EQ(must(imported_traces(store, task.key())), report.traces);
  EXPECT_TRUE(must(imported_traces(store, {1, 1})).empty());
  EXPECT_TRUE(must(store.best(task.key(), {}, 5)).empty());
  // They travel with the store, and again is no more.
  Store other = must(Store::open(folder / "b.db"));
  must(merge(other, store));
  must(import_log(opened(other), task, folder / "log.json"));
  EXPECT_EQ(must(imported_traces(other, task.key())), report.traces);
  EXPECT_FALSE(import_log(opened(store), task, folder / "none").has_value());
}

}  // namespace
}  // namespace tilewright::ansor_log
