#include "schedule/testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/json.h"
#include "base/must_testing.h"
#include "schedule/explain.h"
#include "task/parse.h"

namespace tilewright::schedule::testing {
namespace {

std::string without_inputs(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    if (!line.ends_with(": input\n")) out += line;
    at = end;
  }
  return out;
}

}  // namespace

Trace trace_of(std::string_view text) { return must(trace_from_text(text)); }

Workbench::Workbench(std::string_view operator_text, IntrinsicTable intrinsics)
    : workload_(must(parse_workload(operator_text))),
      initial_(must(initial_tree(workload_, intrinsics))) {}

Workbench::Workbench(std::shared_ptr<const te::Dag> dag, IntrinsicTable intrinsics)
    : workload_(make_workload(std::move(dag), {}, "a Dag of the test")),
      initial_(must(initial_tree(workload_, intrinsics))) {}

LoopTree Workbench::tree(std::string_view steps) const& {
  return must(apply_or_explain(initial_, trace_of(steps)));
}

Illegal Workbench::refusal(std::string_view steps) const {
  LoopTree tree;
  return apply(initial_, trace_of(steps), &tree);
}

std::string Workbench::explanation(std::string_view steps) const {
  return explain(initial_, trace_of(steps), refusal(steps));
}

StageName stage_of(std::string_view text) {
  const auto name = StageName::parse(text);
  if (!name) throw std::runtime_error(fmt::format("'{}' is not a stage", text));
  return *name;
}

const Access& access_of(const LoopTree& tree, std::string_view reader, std::string_view producer) {
  const StageIndex from = tree.find_stage(stage_of(producer));
  const Stage& stage = tree.stage(tree.find_stage(stage_of(reader)));
  for (const Access& access : tree.reads_of(stage)) {
    if (tree.buffer(access.buffer).stage == from) return access;
  }
  throw std::runtime_error(fmt::format("{} does not read {}", reader, producer));
}

const LoopVar& var_of(const LoopTree& tree, std::string_view stage, std::string_view name) {
  const StageIndex owner = tree.find_stage(stage_of(stage));
  for (const LoopVar& var : tree.vars) {
    if (var.stage == owner && var.name.text() == name) return var;
  }
  throw std::runtime_error(fmt::format("{} has no variable {}", stage, name));
}

std::string form_text(const LoopTree& tree, const arith::Affine& form) {
  std::string out;
  for (const arith::Term& term : form.terms) {
    if (!out.empty()) out += " + ";
    if (term.coefficient != 1) out += fmt::format("{}*", term.coefficient);
    out += tree.var(static_cast<VarIndex>(term.var)).name.text();
  }
  if (out.empty()) return std::to_string(form.constant);
  if (form.constant != 0) out += fmt::format(" {:+}", form.constant);
  return out;
}

std::string regions_text(const LoopTree& tree, std::span<const RegionDim> dims) {
  std::string out;
  for (const RegionDim& dim : dims) {
    if (!out.empty()) out += "; ";
    if (dim.whole) {
      out += fmt::format("whole {}", dim.extent);
    } else {
      out += fmt::format("{} : {}", form_text(tree, dim.base), dim.extent);
      if (dim.stride != 1) out += fmt::format(" by {}", dim.stride);
      out += dim.exact ? " exact" : " hull";
    }
    if (dim.clipped) out += " clipped";
  }
  return out;
}

std::string regions_text(const LoopTree& tree, const Access& access) {
  return regions_text(tree, std::span(&tree.regions[access.first_dim], access.rank));
}

void check_round_trip(std::string_view step) {
  SCOPED_TRACE(step);
  const Trace trace = trace_of(step);
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(to_text(trace), std::string(step) + "\n");
  const auto json = parse_json(print_json(to_json(trace)));
  ASSERT_TRUE(json);
  const auto again = trace_from_json(*json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, trace);
}

void check_legal(const std::vector<LegalCase>& cases) {
  for (const LegalCase& c : cases) {
    SCOPED_TRACE(fmt::format("{}\n{}{}", c.workload, c.before, c.step));
    const Workbench bench(c.workload);
    check_round_trip(c.step);
    const auto tree = apply_or_explain(bench.initial(), trace_of(c.before + c.step));
    if (!tree) {
      ADD_FAILURE() << tree.error().message;
      continue;
    }
    EXPECT_EQ("\n" + without_inputs(tree->to_string()), c.loops);
  }
}

void check_illegal(const std::vector<IllegalCase>& cases) {
  for (const IllegalCase& c : cases) {
    SCOPED_TRACE(fmt::format("{}\n{}{}", c.workload, c.before, c.step));
    const Workbench bench(c.workload);
    check_round_trip(c.step);
    const Illegal illegal = bench.refusal(c.before + c.step);
    const std::string text = bench.explanation(c.before + c.step);
    EXPECT_EQ(static_cast<int>(illegal.code), static_cast<int>(c.code)) << text;
    EXPECT_THAT(text, ::testing::HasSubstr("`" + c.step + "`"));
    for (const std::string& says : c.says) EXPECT_THAT(text, ::testing::HasSubstr(says));
  }
}

}  // namespace tilewright::schedule::testing
