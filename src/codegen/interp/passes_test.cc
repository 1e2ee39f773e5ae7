// The interpreter on both sides of each lowering pass: where no permission is used, the same bits.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/interp/interp.h"
#include "ir/print.h"
#include "lower/build_nest.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::codegen {
namespace {

using Bytes = std::vector<std::byte>;

// Arguments of small floats of both signs; outputs are overwritten.
std::vector<Bytes> arguments_of(const ir::Function& function) {
  std::vector<Bytes> arguments;
  for (const ir::BufferId id : function.arguments) {
    std::vector<float> values(static_cast<size_t>(function.buffers[id].elements()));
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = (static_cast<float>((k * 37 + id) % 101) - 50) / 8;
    }
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    arguments.push_back(std::move(bytes));
  }
  return arguments;
}

std::vector<Bytes> results_of(const ir::Function& function) {
  std::vector<Bytes> arguments = arguments_of(function);
  std::vector<void*> pointers;
  for (Bytes& argument : arguments) pointers.push_back(argument.data());
  const Status status = interpret(function, pointers);
  EXPECT_TRUE(status) << status.error().message << "\n" << ir::to_string(function);
  return arguments;
}

struct Case {
  const char* what;
  const char* trace;
};

TEST(Passes, KeepTheBitsWithoutPermissions) {
  const Case cases[] = {
      {"conv2d:n=1,h=6,w=6,ci=5,co=16,kernel=3,stride=1,pad=1", "compute_inline P"},
      {"conv2d:n=1,h=6,w=6,ci=4,co=16,kernel=3,stride=1,pad=1",
       "compute_inline P\nsplit Y x [3]\nreorder Y [x.0, ry, rx, rc, x.1, c]\n"
       "annotate Y x.1 unroll\nannotate Y c vectorize"},
      {"conv2d:n=1,h=7,w=9,ci=3,co=5,kernel=3,stride=2,pad=1,dilation=2",
       "annotate P c vectorize\nreorder Y [ry, rx, rc, c]\nannotate Y c vectorize"},
      {"conv2d_transpose:n=1,h=4,w=4,ci=4,co=6,kernel=3,stride=2,pad=1", "compute_inline P"},
      {"pool:op=max,spatial=9x9,c=17,kernel=3x3,stride=1,pad=1",
       "compute_inline P\nreorder Y [ry, rx, c]\nannotate Y c vectorize"},
      {"pool:op=average,spatial=7x7,c=5,kernel=3x3,stride=2,pad=1", ""},
      {"matmul:m=7,n=19,k=5",
       "split C j [8]\nsplit C i [4]\nreorder C [i.0, j.0, k, i.1, j.1]\nannotate C j.1 vectorize"},
  };
  const Target target = *parse_target("x86-64-v4;threads=1");
  const FloatPermissions none{.reassociate = false,
                              .contract = false,
                              .approximate = false,
                              .fold = false,
                              .online_softmax = false};
  for (const Case& test : cases) {
    const Result<Workload> workload = parse_workload(test.what, none);
    ASSERT_TRUE(workload) << workload.error().message;
    const schedule::Trace trace = *schedule::trace_from_text(test.trace);
    const auto tree = schedule::apply_or_explain(*schedule::initial_tree(*workload), trace);
    ASSERT_TRUE(tree) << test.what << ": " << tree.error().message;
    ir::Function function = lower::build_nest(*workload, target, *tree, trace);
    const std::vector<Bytes> expected = results_of(function);
    for (const lower::Pass& pass : lower::cpu_passes()) {
      const std::string before = ir::to_string(function);
      pass.run(function, {target, none});
      EXPECT_EQ(results_of(function), expected) << pass.name << " of " << test.what << "\n"
                                                << before << "->\n"
                                                << ir::to_string(function);
    }
  }
}

}  // namespace
}  // namespace tilewright::codegen
