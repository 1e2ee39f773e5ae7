#include "task/workload.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/check.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright {
namespace {

Workload parsed(const char* text) {
  auto workload = parse_workload(text);
  EXPECT_TRUE(workload.has_value()) << workload.error().message;
  return *workload;
}

// A matmul under other names of operators and axes, with hints.
std::shared_ptr<const te::Dag> renamed_matmul(int64_t m, int64_t n, int64_t k) {
  te::DagBuilder builder;
  const te::TensorId p = builder.placeholder("P", {m, k}, ir::Scalar::F32);
  const te::TensorId q = builder.placeholder("Q", {k, n}, ir::Scalar::F32);
  const te::Axis u = builder.axis("u", m, {.always_unroll_inner = true});
  const te::Axis v = builder.axis("v", n);
  const te::Axis w = builder.axis("w", k);
  const te::TensorId r = builder.reduce(
      "R", {u, v}, {w}, ir::BinaryOp::Add,
      builder.read(p, {u.var, w.var}) * builder.read(q, {w.var, v.var}), ir::Scalar::F32);
  builder.set_flop(r, 1);
  return std::move(builder).build();
}

TEST(Workload, OperandsAndTheirRoles) {
  const Workload workload = parsed("matmul:m=4,n=5,k=6,constant=B");
  ASSERT_EQ(workload.operands.size(), 3u);
  EXPECT_EQ(workload.operands[0].role, Role::Input);
  EXPECT_EQ(workload.operands[0].layout.to_string(), "[d0:4, d1:6]");
  EXPECT_EQ(workload.operands[1].role, Role::Constant);
  EXPECT_TRUE(workload.operands[1].layout.free);
  EXPECT_EQ(workload.operands[2].role, Role::Output);
  EXPECT_EQ(workload.operand_of(2).layout.to_string(), "[d0:4, d1:5]");
  EXPECT_THROW(workload.operand_of(3), InternalError);
  EXPECT_THROW(make_workload(workload.dag, {"W"}, ""), InternalError);
}

TEST(Workload, KeyIgnoresNamesHintsAndText) {
  const Workload plain = parsed("matmul:m=4,n=5,k=6");
  const Workload renamed = make_workload(renamed_matmul(4, 5, 6), {}, "another text");
  EXPECT_EQ(plain.key(), renamed.key());
  EXPECT_EQ(plain.key(), parsed("matmul:m=4,n=5,k=6").key());
}

TEST(Workload, KeyDependsOnEverythingElse) {
  std::map<std::string, Workload> workloads;
  for (const char* text :
       {"matmul:m=4,n=5,k=6", "matmul:m=5,n=4,k=6", "matmul:m=4,n=5,k=7",
        "matmul:m=4,n=5,k=6,dtype=f64", "matmul:m=4,n=5,k=6,dtype=f16",
        "matmul:m=4,n=5,k=6,constant=B", "matmul:m=4,n=5,k=6,constant=A",
        "batch_matmul:b=1,m=4,n=5,k=6", "conv2d:h=8,w=8,ci=4,co=4,kernel=3",
        "conv2d:h=8,w=8,ci=4,co=4,kernel=3,pad=1", "conv2d:h=8,w=8,ci=4,co=4,kernel=3,groups=2",
        "conv2d:h=8,w=8,ci=4,co=4,kernel=3,dilation=2", "softmax:m=4,n=8",
        "elementwise:shape=4x8,chain=scale(2)", "elementwise:shape=4x8,chain=scale(3)",
        "elementwise:shape=4x8,chain=add", "elementwise:shape=4x8,chain=max",
        "elementwise:shape=4x8,chain=neg", "elementwise:shape=4x8,chain=abs"}) {
    workloads[text] = parsed(text);
  }
  Workload base = parsed("matmul:m=4,n=5,k=6");
  base.permissions.contract = false;
  workloads["permission"] = base;
  base = parsed("matmul:m=4,n=5,k=6");
  base.permissions.winograd = true;
  workloads["another permission"] = base;
  base = parsed("matmul:m=4,n=5,k=6");
  base.permissions.denormals = true;
  workloads["a third permission"] = base;
  base = parsed("matmul:m=4,n=5,k=6");
  base.operands[0].alignment = 4;
  workloads["alignment"] = base;
  base = parsed("matmul:m=4,n=5,k=6");
  base.operands[2].layout = layout::Layout::blocked(std::vector<int64_t>{4, 5}, 1, 4);
  workloads["layout"] = base;

  std::map<Hash128, std::string> seen;
  for (const auto& [name, workload] : workloads) {
    const auto [place, fresh] = seen.emplace(workload.key(), name);
    EXPECT_TRUE(fresh) << name << " and " << place->second;
  }
}

TEST(Workload, SymbolsAreNumberedNotNamed) {
  const auto make = [](const char* first, const char* second) {
    te::DagBuilder builder;
    const te::Extent m = te::Extent::named(Name(first), 1, 64);
    const te::Extent n = te::Extent::named(Name(second), 1, 64);
    const te::TensorId x = builder.placeholder("X", {m, n}, ir::Scalar::F32);
    const te::Axis i = builder.axis("i", m);
    const te::Axis j = builder.axis("j", n);
    builder.compute("Y", {i, j}, builder.read(x, {i.var, j.var}));
    return make_workload(std::move(builder).build(), {}, "").key();
  };
  EXPECT_EQ(make("m", "n"), make("rows", "columns"));
  EXPECT_NE(make("m", "n"), make("m", "m"));
}

TEST(Task, KeyHoldsTheTarget) {
  const Workload workload = parsed("matmul:m=4,n=5,k=6");
  const Task one{.workload = workload, .target = make_target({}, 1)};
  const Task two{.workload = workload, .target = make_target({}, 2)};
  EXPECT_NE(one.key(), two.key());
  EXPECT_NE(one.key(), workload.key());
  EXPECT_EQ(one.key(), (Task{.workload = workload, .target = make_target({}, 1)}).key());
}

// Keys are stored in records: a change here needs a new version and a migration.
TEST(Workload, KeysAreStable) {
  EXPECT_EQ(parsed("matmul:m=512,n=512,k=512").key().hex(), "dcfe731be1ec11847ecc07e3c319d84b");
  EXPECT_EQ(parsed("C2D2").key().hex(), "78a9b44ab0c2c1d8c93e825d538d1747");
  EXPECT_EQ(parsed("matmul:m=4,n=5,k=6,constant=B").key().hex(),
            "db6d70940728d960862b37901ca34425");
  EXPECT_EQ(parsed("softmax:m=4,n=8").key().hex(), "aaf4d981da7fd37f5f6a39b7be85dfc5");
}

TEST(Workload, KeysOfPartsAreStable) {
  const Workload matmul = parsed("matmul:m=7,n=9,k=5");
  const Workload one =
      dag_workload(matmul.dag, {}, {}, {{.tensor = "C", .extents = {7, 20}, .alignment = 16}});
  EXPECT_EQ(one.key().hex(), "4fa0db89c2c38c58abde9f72de5820ec");
  EXPECT_TRUE(one.text.ends_with(R"(,"parts":{"C":[[7,20],16]}})")) << one.text;
  const Workload two = dag_workload(matmul.dag, {"B"}, {},
                                    {{.tensor = "A", .extents = {9, 8}, .alignment = 64},
                                     {.tensor = "C", .extents = {7, 9}, .alignment = 32}});
  EXPECT_EQ(two.key().hex(), "b17fc6348f3d0f16087da16a03ccc5b3");
}

TEST(Workload, LayoutIsNotAPartOfAnArray) {
  const Workload matmul = parsed("matmul:m=7,n=9,k=5");
  const auto output = [](const Workload& workload) -> const Operand& {
    return workload.operands[2];
  };
  Workload part = matmul;
  ASSERT_TRUE(set_part(part, {.tensor = "C", .extents = {7, 20}, .alignment = 64}));
  EXPECT_TRUE(output(part).is_part());
  EXPECT_EQ(output(part).layout.to_string(), "[d0:7, d1:9]");
  EXPECT_EQ(output(part).storage().to_string(), "[d0:7, d1:20]");

  Workload blocked = matmul;
  blocked.operands[2].layout = layout::Layout::blocked(std::vector<int64_t>{7, 9}, 1, 4);
  EXPECT_FALSE(output(blocked).is_part());
  EXPECT_EQ(output(blocked).storage(), output(blocked).layout);
  Workload both = blocked;  // a layout that a place in a larger array would hide
  both.operands[2].within = {7, 20};
  EXPECT_THROW(output(both).storage(), InternalError);
  Workload wider = both;
  wider.operands[2].within = {7, 21};

  Workload padded = matmul;  // rows of 20, all of them its own
  padded.operands[2].layout = layout::Layout::row_major(std::vector<int64_t>{7, 20});
  EXPECT_FALSE(output(padded).is_part());
  EXPECT_EQ(output(padded).storage(), output(part).storage());

  Workload whole = matmul;
  ASSERT_TRUE(set_part(whole, {.tensor = "C", .extents = {7, 9}, .alignment = 64}));
  EXPECT_FALSE(output(whole).is_part());
  EXPECT_EQ(whole.key(), matmul.key());
  const std::set<Hash128> keys = {matmul.key(), part.key(), blocked.key(),
                                  padded.key(), both.key(), wider.key()};
  EXPECT_EQ(keys.size(), 6u);
}

}  // namespace
}  // namespace tilewright
