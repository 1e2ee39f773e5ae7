#include "space/space.h"

#include <gtest/gtest.h>

#include "schedule/apply.h"
#include "space/tile_domain.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::space {
namespace {

using schedule::Sketch;

Task task_of(std::string_view text, std::string_view target = "x86-64-v4;threads=2") {
  Result<Workload> workload = parse_workload(text);
  CHECK(workload.has_value(), "{}", workload.error().message);
  return {*workload, parse_target(target).value()};
}

Space space_of(const Task& task, const SpaceOptions& options = {}) {
  Result<Space> space = Space::make(task, options);
  CHECK(space.has_value(), "{}", space.error().message);
  return *std::move(space);
}

SpaceOptions as_published() {
  SpaceOptions options{.cores = 20};
  for (const Extension& extension : extensions()) options.off.emplace_back(extension.name);
  return options;
}

Task chained_matmuls() {
  te::DagBuilder builder;
  const auto a = builder.placeholder("A", {512, 512}, ir::Scalar::F32);
  const auto b = builder.placeholder("B", {512, 512}, ir::Scalar::F32);
  const auto w = builder.placeholder("W", {512, 512}, ir::Scalar::F32);
  const auto multiply = [&](std::string_view name, te::TensorId x, te::TensorId y) {
    const auto i = builder.axis("i", 512), j = builder.axis("j", 512), k = builder.axis("k", 512);
    return builder.reduce(name, {i, j}, {k}, ir::BinaryOp::Add,
                          builder.read(x, {i.var, k.var}) * builder.read(y, {k.var, j.var}),
                          ir::Scalar::F32);
  };
  multiply("D", multiply("C", a, b), w);
  return {make_workload(std::move(builder).build(), {}, "two matmuls"),
          parse_target("x86-64-v4;threads=2").value()};
}

TEST(Space, HasAsManySketchesAsPublished) {
  const SpaceOptions options = as_published();
  const auto count = [&](std::string_view text) {
    return space_of(task_of(text), options).sketches().size();
  };
  EXPECT_EQ(count("matmul:m=512,n=512,k=512"), 3u);
  EXPECT_EQ(count("matmul:m=8,n=8,k=512"), 5u);
  EXPECT_EQ(space_of(chained_matmuls(), options).sketches().size(), 9u);
  EXPECT_EQ(count("conv2d_bias_bn_relu:n=1,h=56,w=56,ci=512,co=512,kernel=3,stride=1,pad=1"), 3u);
  EXPECT_EQ(count("pool:op=max,n=1,spatial=56x56,c=512,kernel=3,stride=2,pad=1"), 1u);
  EXPECT_EQ(count("reduce:op=min,shape=10x1024,axes=1"), 3u);
  EXPECT_EQ(count("softmax:m=1,n=1024"), 9u);
  EXPECT_EQ(count("softmax:m=1536,n=128"), 9u);
  EXPECT_EQ(count("conv2d_winograd:n=1,h=28,w=28,ci=128,co=128,pad=1"), 3u);
  EXPECT_EQ(count("reduce:op=sum,shape=128,axes=0"), 3u);
}

// The share of genomes that apply.
double legal_share(const Space& space, int samples, std::map<std::string, int>* reasons = nullptr) {
  Rng rng(7);
  schedule::Trace trace;
  schedule::LoopTree tree;
  int legal = 0;
  for (int k = 0; k < samples; ++k) {
    const Sketch& sketch = space.sketches()[rng.below(space.sketches().size())];
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    const schedule::Illegal illegal = schedule::apply(space.initial(), trace, &tree);
    if (!illegal) ++legal;
    if (illegal && reasons != nullptr) {
      const bool large = illegal.code == schedule::IllegalCode::CodeTooLarge;
      ++(*reasons)[large ? "code too large" : explain(space.initial(), trace, illegal)];
    }
  }
  return double(legal) / samples;
}

TEST(Space, MostGenomesOfTheSuiteAreLegal) {
  const bool talks = std::getenv("SPACE_TALKS") != nullptr;
  for (const SuiteRow& row : suite_rows()) {
    const Space space = space_of(task_of(row.name));
    std::map<std::string, int> reasons;
    const double share = legal_share(space, 200, &reasons);
    EXPECT_GT(share, 0.05) << row.name;
    EXPECT_LE(space.sketches().size(), 48u) << row.name;
    if (!talks) continue;
    std::printf("%s: %zu sketches, %.2g genomes, %.2f legal\n", row.name.c_str(),
                space.sketches().size(), space.size(), share);
    if (share < 0.5) {
      for (const auto& [why, times] : reasons) std::printf("   %d %s\n", times, why.c_str());
    }
  }
}

}  // namespace
}  // namespace tilewright::space
