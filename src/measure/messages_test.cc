#include "measure/messages.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace tilewright::measure {
namespace {

BuiltKernel some_kernel() {
  return {.artifact = {.kind = "cubin",
                       .bytes = {1, 2, 3, 0, 255},
                       .entry = "tilewright_c2d2",
                       .shared_workspace = 640,
                       .thread_workspace = 64,
                       .launch = {.grid = {7, 5, 3}, .block = {32, 4, 1}, .shared_bytes = 4096},
                       .denormals = true},
          .packed = {{.operand = 1,
                      .layout = {.free = false,
                                 .digits = {{.dim = 1, .divisor = 32, .extent = 3},
                                            {.dim = 0, .divisor = 1, .extent = 6}}}},
                     {.operand = 2, .layout = layout::Layout::undecided()}}};
}

RunOutcome some_outcome() {
  return {
      .verdict = {.kind = record::VerdictKind::Censored,
                  .latency_ns = 12.5,
                  .samples_ns = {13, 12.5, 14},
                  .text = "why\nnot"},
      .conditions =
          {.build_ns = 1, .check_ns = 2, .time_ns = 3, .disturbed = 4, .clock = 0.99, .load = 1.5},
      .kernel_ns = 39.5};
}

TaskMessage some_task() {
  return {.task = {.key = {1, 2},
                   .workload = {3, 4},
                   .text = "matmul:m=2,n=3,k=4",
                   .permissions = {.winograd = true, .denormals = true},
                   .target = "x86-64;threads=2"},
          .operands_path = "/proc/1/fd/7",
          .tolerance = {.absolute = {0, 1e-6}, .relative = {0, 2}},
          .memory = 1 << 20};
}

void expect_same(const BuiltKernel& a, const BuiltKernel& b) {
  EXPECT_EQ(a.artifact.bytes, b.artifact.bytes);
  EXPECT_EQ(a.artifact.entry, b.artifact.entry);
  EXPECT_EQ(a.artifact.shared_workspace, b.artifact.shared_workspace);
  EXPECT_EQ(a.artifact.thread_workspace, b.artifact.thread_workspace);
  EXPECT_EQ(a.artifact.abi_version, b.artifact.abi_version);
  EXPECT_EQ(a.artifact.kind, b.artifact.kind);
  EXPECT_EQ(a.artifact.launch, b.artifact.launch);
  EXPECT_EQ(a.artifact.denormals, b.artifact.denormals);
  ASSERT_EQ(a.packed.size(), b.packed.size());
  for (size_t k = 0; k < a.packed.size(); ++k) {
    EXPECT_EQ(a.packed[k].operand, b.packed[k].operand);
    EXPECT_EQ(a.packed[k].layout, b.packed[k].layout);
  }
}

TEST(Messages, Task) {
  const auto back = decode_task(encode(some_task()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->task, some_task().task);
  EXPECT_EQ(back->operands_path, "/proc/1/fd/7");
  EXPECT_EQ(back->tolerance, some_task().tolerance);
  EXPECT_EQ(back->memory, 1 << 20);
  EXPECT_EQ(*kind_of(encode(some_task())), MessageKind::Task);
  const auto reply = decode_task_reply(encode(TaskReply{.error = "no", .resident_bytes = 9}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->error, "no");
  EXPECT_EQ(reply->resident_bytes, 9);
}

TEST(Messages, Build) {
  const std::string bytes = encode(BuildMessage{.trace = "split C i [2]", .timeout_s = 1.5});
  EXPECT_EQ(*kind_of(bytes), MessageKind::Build);
  const auto back = decode_build(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->trace, "split C i [2]");
  EXPECT_EQ(back->timeout_s, 1.5);
  BuildReply reply;
  reply.failure = record::VerdictKind::Lower;
  reply.text = "too large";
  reply.kernel = some_kernel();
  reply.cpu_ns = 7;
  reply.resident_bytes = 8;
  const auto replied = decode_build_reply(encode(reply));
  ASSERT_TRUE(replied);
  EXPECT_EQ(replied->failure, record::VerdictKind::Lower);
  EXPECT_EQ(replied->text, "too large");
  expect_same(replied->kernel, some_kernel());
  EXPECT_EQ(replied->cpu_ns, 7);
  EXPECT_EQ(replied->resident_bytes, 8);
}

RunMessage some_run() {
  RunMessage message;
  message.job = RunJob::Compare;
  message.kernels = {some_kernel(), some_kernel()};
  message.request = {.protocol = {.version = 1,
                                  .cache = record::CachePolicy::WeightsCold,
                                  .interleaved = true,
                                  .back_end = "c"},
                     .incumbent_ns = 1,
                     .timeout_ns = 2,
                     .censor_ns = 3};
  message.rounds = 5;
  message.round_ns = 1e6;
  return message;
}

TEST(Messages, Run) {
  const auto back = decode_run(encode(some_run()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->job, RunJob::Compare);
  ASSERT_EQ(back->kernels.size(), 2U);
  expect_same(back->kernels[1], some_kernel());
  EXPECT_EQ(back->request.protocol, some_run().request.protocol);
  EXPECT_EQ(back->request.incumbent_ns, 1);
  EXPECT_EQ(back->request.timeout_ns, 2);
  EXPECT_EQ(back->request.censor_ns, 3);
  EXPECT_EQ(back->rounds, 5);
  EXPECT_EQ(back->round_ns, 1e6);
  const auto reply = decode_run_reply(
      encode(RunReply{.outcomes = {some_outcome()}, .error = "oh", .resident_bytes = 3}));
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->outcomes.size(), 1U);
  EXPECT_EQ(reply->outcomes[0].verdict, some_outcome().verdict);
  EXPECT_EQ(reply->outcomes[0].conditions, some_outcome().conditions);
  EXPECT_EQ(reply->outcomes[0].kernel_ns, 39.5);
  EXPECT_EQ(reply->error, "oh");
}

TEST(Messages, Models) {
  const ModelsMessage message{
      .libraries = {"/tmp/a.so", "b.so"}, .threads = 2, .seed = 7, .seconds = 0.5};
  EXPECT_EQ(*kind_of(encode(message)), MessageKind::Models);
  EXPECT_EQ(*decode_models(encode(message)), message);
  const ModelsReply reply{
      .timings = {{.runs_ns = {3, 4}, .steps_ns = {1}, .low_ns = {0.5}, .share = 0.9}, {}},
      .error = "why"};
  const std::string bytes = encode(reply);
  EXPECT_EQ(*decode_models_reply(bytes), reply);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(decode_models_reply(std::string_view(bytes).substr(0, cut)));
  }
}

// A crashing worker may send truncated or random bytes: an error or a message, never a crash.
TEST(Messages, MalformedBytesAreErrors) {
  const std::vector<std::string> whole = {
      encode(some_task()), encode(some_run()),
      encode(RunReply{.outcomes = {some_outcome()}, .error = "", .resident_bytes = 3})};
  for (const std::string& bytes : whole) {
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      const std::string_view part = std::string_view(bytes).substr(0, cut);
      EXPECT_FALSE(decode_task(part));
      EXPECT_FALSE(decode_run(part));
      EXPECT_FALSE(decode_run_reply(part));
    }
  }
  Rng rng(3);
  for (int k = 0; k < 2000; ++k) {
    std::string bytes = whole[rng.below(whole.size())];
    for (int flips = 0; flips < 3; ++flips) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    std::ignore = decode_task(bytes);
    std::ignore = decode_run(bytes);
    std::ignore = decode_run_reply(bytes);
    std::ignore = decode_build_reply(bytes);
  }
  EXPECT_FALSE(kind_of(""));
  EXPECT_FALSE(kind_of("\x7f"));
}

}  // namespace
}  // namespace tilewright::measure
