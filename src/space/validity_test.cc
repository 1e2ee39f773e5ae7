#include "space/validity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/file.h"
#include "heuristic/default_trace.h"
#include "schedule/apply.h"
#include "schedule/intrinsics_testing.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::space {
namespace {

Machine small_machine() {
  Machine machine;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64, .shared_by = 1},
                    {.level = 2, .size_bytes = 1 << 20, .line_bytes = 64, .shared_by = 1}};
  machine.memory_bytes = int64_t{8} << 30;
  return machine;
}

class Bench {
 public:
  explicit Bench(std::string_view text, std::string_view target = "x86-64-v4;threads=2",
                 schedule::IntrinsicTable intrinsics = schedule::all_intrinsics())
      : Bench(parse_workload(text).value(), target, intrinsics) {}
  Bench(Workload workload, std::string_view target, schedule::IntrinsicTable intrinsics)
      : task_{std::move(workload), parse_target(target).value()},
        initial_(schedule::initial_tree(task_.workload, intrinsics).value()),
        validity_(task_, initial_, small_machine()) {}

  std::string check(const schedule::Trace& trace) const {
    const auto tree = schedule::apply_or_explain(initial_, trace);
    if (!tree) return tree.error().message;
    return std::string(text_of(validity_.check(*tree)));
  }
  std::string check(std::string_view steps) const {
    return check(schedule::trace_from_text(steps).value());
  }
  const Task& task() const { return task_; }

 private:
  Task task_;
  schedule::LoopTree initial_;
  Validity validity_;
};

// A tile of `rows` times `columns` of a matmul, in registers while k runs.
std::string tile(int rows, int columns) {
  return "cache_write C\nsplit C i [" + std::to_string(rows) + "]\nsplit C j [" +
         std::to_string(columns) +
         "]\nreorder C [i.0, j.0, i.1, j.1]\nannotate C i.0 parallel\n"
         "compute_at C.write C j.0\nreorder C.write [k, i, j]\n"
         "annotate C.write i unroll\nannotate C.write j vectorize\n";
}

TEST(Validity, AccumulatorsMustFitTheRegisters) {
  const Bench bench("matmul:m=512,n=512,k=512");
  EXPECT_EQ(bench.check(tile(8, 32)), text_of(RejectReason::No));
  EXPECT_EQ(bench.check(tile(14, 32)), text_of(RejectReason::No));
  EXPECT_EQ(bench.check(tile(16, 48)), text_of(RejectReason::No));  // 48: the last that is tried
  EXPECT_EQ(bench.check(tile(17, 48)), text_of(RejectReason::Registers));
  EXPECT_EQ(bench.check(tile(64, 32)), text_of(RejectReason::Registers));
  // With half the registers and half the lanes.
  const Bench narrow("matmul:m=512,n=512,k=512", "x86-64-v3;threads=2");
  EXPECT_EQ(narrow.check(tile(6, 16)), text_of(RejectReason::No));
  EXPECT_EQ(narrow.check(tile(14, 16)), text_of(RejectReason::Registers));
  // Halves are stored in half a lane, but summed in whole ones.
  const Bench half("matmul:m=512,n=512,k=512,dtype=bf16");
  EXPECT_EQ(half.check(tile(12, 64)), text_of(RejectReason::No));
  EXPECT_EQ(half.check(tile(24, 64)), text_of(RejectReason::Registers));
}

// One vector per row of an intrinsic. Its factors need none.
TEST(Validity, AccumulatorsOfIntrinsicsMustFitTheRegisters) {
  const char* const target = "x86-64-v4:avx512vnni;threads=1";
  const std::string bytes = "matmul:m=512,n=512,k=512,dtype=u8,dtype_b=i8,constant=B";
  const schedule::IntrinsicTable table = schedule::testing::tile_intrinsics();
  const auto lines = [](int rows) {
    return fmt::format(
        "split C i [{}]\nsplit C j [2, 16]\nsplit C k [4]\n"
        "reorder C [i.0, j.0, k.0, i.1, j.1, j.2, k.1]\nannotate C i.1 unroll\n"
        "annotate C j.1 unroll\npack B C\ntensorize C j.2 vnni_dot_u8i8",
        rows);
  };
  const Bench dots(bytes, target);
  EXPECT_EQ(dots.check(lines(16)), text_of(RejectReason::No));
  EXPECT_EQ(dots.check(lines(32)), text_of(RejectReason::Registers));
  const auto tiles = [](int rows) {
    return fmt::format(
        "split C i [{}, 2]\nsplit C j [2, 16]\nsplit C k [4]\n"
        "reorder C [i.0, j.0, k.0, i.1, j.1, i.2, j.2, k.1]\nannotate C i.1 unroll\n"
        "annotate C j.1 unroll\npack B C\ntensorize C i.2 toy_tile",
        rows);
  };
  const Bench toy(bytes, target, table);
  EXPECT_EQ(toy.check(tiles(8)), text_of(RejectReason::No));
  EXPECT_EQ(toy.check(tiles(16)), text_of(RejectReason::Registers));
  const auto amx = [](int columns) {
    return fmt::format(
        "split acc r [16]\nsplit acc l [{}, 16]\nsplit acc g [16]\n"
        "reorder acc [r.0, l.0, g.0, l.1, r.1, l.2, g.1, f]\nannotate acc l.1 unroll\n"
        "tensorize acc r.1 amx_tile",
        columns);
  };
  const Bench large(make_workload(schedule::testing::amx_dag(64, 128, 64, 256), {}, "a product"),
                    target, table);
  EXPECT_EQ(large.check(amx(2)), text_of(RejectReason::No));
  EXPECT_EQ(large.check(amx(4)), text_of(RejectReason::Registers));
}

TEST(Validity, LoopsThatAreNotUnrolledNeedNoRegisters) {
  const Bench bench("matmul:m=512,n=512,k=512");
  EXPECT_EQ(bench.check("annotate C i parallel\nreorder C [i, k, j]\nsplit C j [64]\n"
                        "annotate C j.1 vectorize"),
            text_of(RejectReason::No));
  // A reduction that is written out does not hide the one around it.
  EXPECT_EQ(bench.check("split C i [64]\nsplit C j [32]\nsplit C k [2]\n"
                        "reorder C [i.0, j.0, k.0, i.1, k.1, j.1]\nannotate C i.0 parallel\n"
                        "annotate C i.1 unroll\nannotate C k.1 unroll\nannotate C j.1 vectorize"),
            text_of(RejectReason::Registers));
}

TEST(Validity, VectorsSpanFewRegisters) {
  const Bench bench("matmul:m=512,n=512,k=512");
  const auto lanes = [&](std::string_view size) {
    return bench.check("annotate C i parallel\nsplit C j [" + std::string(size) +
                       "]\nreorder C [i, j.0, k, j.1]\nannotate C j.1 vectorize");
  };
  EXPECT_EQ(lanes("1"), text_of(RejectReason::VectorLength));
  EXPECT_EQ(lanes("2"), text_of(RejectReason::No));
  EXPECT_EQ(lanes("256"), text_of(RejectReason::No));
  EXPECT_EQ(lanes("512"), text_of(RejectReason::VectorLength));
  // If there is no other axis, one lane is accepted.
  const Bench column("matmul:m=512,n=1,k=512");
  EXPECT_EQ(column.check("annotate C i parallel\nreorder C [i, k, j]\nannotate C j vectorize"),
            text_of(RejectReason::No));
  const Bench prime("matmul:m=509,n=521,k=523");
  EXPECT_EQ(prime.check("annotate C i parallel\nsplit C j [1]\nannotate C j.1 vectorize"
                        "\nreorder C [i, j.0, k, j.1]"),
            text_of(RejectReason::No));
}

TEST(Validity, AttachedBuffersFitACache) {
  const Bench bench("matmul:m=8192,n=8192,k=8192");
  const std::string read = "annotate C i parallel\ncache_read B [C]\ncompute_at B.read C ";
  EXPECT_EQ(bench.check(read + "i"), text_of(RejectReason::ScopeSize));
  EXPECT_EQ(bench.check(read + "j"), text_of(RejectReason::No));
}

TEST(Validity, BuffersFitTheirMemory) {
  const Bench device("matmul:m=256,n=256,k=256", "cuda:sm_80");  // 163 KiB per block, 255 registers
  const auto copy = [](const std::string& tensor, const std::string& scope, const std::string& at) {
    return "cache_read " + tensor + " [C]" + scope + "\ncompute_at " + tensor + ".read C " + at +
           "\n";
  };
  const std::string tiles = "split C i [64]\nsplit C j [128]\nreorder C [i.0, j.0, i.1, j.1, k]\n";
  const std::string threads = tiles + "bind C i.0 block_x\nbind C j.1 thread_x\n";
  const std::string shared = " scope=shared";
  // 64 KiB of A and 128 KiB of B fit alone, and not together.
  EXPECT_EQ(device.check(threads + copy("A", shared, "j.0")), text_of(RejectReason::No));
  EXPECT_EQ(device.check(threads + copy("B", shared, "j.0")), text_of(RejectReason::No));
  EXPECT_EQ(device.check(threads + copy("A", shared, "j.0") + copy("B", shared, "j.0")),
            text_of(RejectReason::MemorySize));
  // Buffers that are not shared do not count.
  EXPECT_EQ(device.check(threads + copy("A", shared, "j.0") + copy("B", "", "j.0")),
            text_of(RejectReason::No));
  // A row of A is 1 KiB: more than the registers of a thread, less than its local memory.
  EXPECT_EQ(device.check(threads + copy("A", " scope=register", "j.1")),
            text_of(RejectReason::MemorySize));
  EXPECT_EQ(device.check(threads + copy("A", " scope=local", "j.1")), text_of(RejectReason::No));
  // A CPU has caches instead.
  const Bench cpu("matmul:m=256,n=256,k=256", "x86-64-v4;threads=1");
  for (const std::string scope : {"", " scope=local", " scope=register", " scope=global"}) {
    EXPECT_EQ(cpu.check(tiles + copy("A", scope, "j.0") + copy("B", scope, "j.0")),
              text_of(RejectReason::No))
        << scope;
  }
  EXPECT_EQ(cpu.check(tiles + copy("A", shared, "j.0")), text_of(RejectReason::MemorySize));
}

TEST(Validity, ABlockHasALimitOfThreads) {
  const Bench device("matmul:m=256,n=256,k=256", "cuda:sm_80");
  EXPECT_EQ(device.check("bind C i block_x\nbind C j thread_x"), text_of(RejectReason::No));
  EXPECT_EQ(device.check("bind C i thread_y\nbind C j thread_x"), text_of(RejectReason::Launch));
}

TEST(Validity, LargeWorkUsesAllThreads) {
  const Bench bench("matmul:m=512,n=512,k=512");
  EXPECT_EQ(bench.check(""), text_of(RejectReason::Threads));
  EXPECT_EQ(bench.check("split C i [512]\nannotate C i.0 parallel"),
            text_of(RejectReason::Threads));
  EXPECT_EQ(bench.check("split C i [256]\nannotate C i.0 parallel"), text_of(RejectReason::No));
  // Parallel further out counts.
  EXPECT_EQ(bench.check("cache_write C\nannotate C i parallel\ncompute_at C.write C i"),
            text_of(RejectReason::No));
  EXPECT_EQ(Bench("matmul:m=16,n=16,k=16").check(""), text_of(RejectReason::No));  // too little
  EXPECT_EQ(Bench("matmul:m=512,n=512,k=512", "x86-64-v4;threads=1").check(""),
            text_of(RejectReason::No));
  EXPECT_EQ(Bench("reduce:op=sum,shape=1000000,axes=0").check(""), text_of(RejectReason::No));
}

TEST(Validity, CodeSizeIsLimited) {
  const Bench bench("matmul:m=512,n=512,k=512", "x86-64-v4;threads=1");
  EXPECT_EQ(bench.check("split C i [64]\nsplit C j [32]\nreorder C [i.0, j.0, i.1, j.1, k]\n"
                        "annotate C i.1 unroll\nannotate C j.1 unroll"),
            text_of(RejectReason::CodeSize));
}

// The workload of a hand-written schedule, if its name is not that of a row of the suite.
std::string workload_of(const std::string& name, const std::string& trace) {
  if (name == "PRIME.509x521x523") return "matmul:m=509,n=521,k=523";
  if (name == "GMM2") return "matmul:m=512,n=512,k=512";
  if (name == "GMM3") return "matmul:m=1024,n=1024,k=1024";
  const std::string first = trace.substr(2, trace.find('\n') - 2);
  return first.contains(':') && first.starts_with("matmul:") ? first : name;
}

// Fast hand-written schedules must never be rejected.
TEST(Validity, HandWrittenSchedulesPass) {
  int checked = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/bench/traces")) {
    const std::string name = file.path().stem().string();
    if (name.ends_with(".naive")) continue;
    const std::string text = read_file(file.path().string(), 1 << 20).value();
    const std::string what = workload_of(name, text);
    const Bench bench(what);
    EXPECT_EQ(bench.check(text), text_of(RejectReason::No)) << name;
    ++checked;
  }
  EXPECT_GE(checked, 17);
}

TEST(Validity, DefaultSchedulesPassExceptForThreads) {
  for (const SuiteRow& row : suite_rows()) {
    const Bench bench(row.name);
    const auto trace = heuristic::default_trace(bench.task().workload, bench.task().target);
    ASSERT_TRUE(trace) << row.name;
    const std::string answer = bench.check(*trace);
    EXPECT_TRUE(answer == text_of(RejectReason::No) || answer == text_of(RejectReason::Threads))
        << row.name << ": " << answer;
  }
}

}  // namespace
}  // namespace tilewright::space
