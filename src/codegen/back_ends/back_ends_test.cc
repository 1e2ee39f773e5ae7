#include "codegen/back_ends/back_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "codegen/probe_function.h"
#include "runtime/host/kernel.h"
#include "runtime/host/loaders.h"

namespace tilewright::codegen {
namespace {

using ::testing::HasSubstr;

TEST(BackEnds, EachProbeSucceedsOnThisHost) {
  for (const BackEnd& back_end : all_back_ends()) {
    const Status status = probe(back_end);
    EXPECT_TRUE(status.has_value()) << back_end.name << ": " << status.error().message;
  }
}

TEST(BackEnds, RowsAreComplete) {
  std::set<std::string_view> names;
  for (const BackEnd& back_end : all_back_ends()) {
    EXPECT_TRUE(names.insert(back_end.name).second) << back_end.name;
    EXPECT_FALSE(back_end.purpose.empty() || back_end.remedy.empty()) << back_end.name;
    EXPECT_FALSE(back_end.passes.empty()) << back_end.name;
    EXPECT_EQ(back_end.makes_artifacts(), back_end.loader != nullptr) << back_end.name;
    if (back_end.loader == nullptr) continue;
    // The run worker has the table of loaders alone.
    const runtime::Loader* const in_table = runtime::find_loader(back_end.loader->kind);
    ASSERT_NE(in_table, nullptr) << back_end.name;
    EXPECT_EQ(in_table->load, back_end.loader->load) << back_end.name;
  }
}

TEST(BackEnds, AFailingProbeIsReportedNotThrown) {
  const BackEnd absent = {.name = "absent", .purpose = "", .remedy = ""};
  EXPECT_EQ(probe(absent).error().message, "not in this build");
  const BackEnd broken = {.name = "broken",
                          .purpose = "",
                          .probe = []() -> Status { throw std::runtime_error("no linker"); },
                          .remedy = ""};
  EXPECT_EQ(probe(broken).error().message, "no linker");
}

TEST(BackEnds, FirstRowThatServesTheTargetWins) {
  EXPECT_EQ((*back_end_for(*parse_target("x86-64-v3")))->name, "llvm");
  const auto narrow = back_end_for(*parse_target("x86-64-v2"));
  ASSERT_FALSE(narrow.has_value());
  EXPECT_THAT(narrow.error().message, HasSubstr("needs avx2"));
  const std::span<const BackEnd> all = all_back_ends();
  EXPECT_EQ((*back_end_for(*parse_target("x86-64-v2"), all.last(1)))->name, "c");
}

TEST(BackEnds, VerdictsNameTheBackEndUnlessItIsTheBuiltInOne) {
  const std::span<const BackEnd> all = all_back_ends();
  const std::vector<BackEnd> reversed(all.rbegin(), all.rend());
  const Target target = *parse_target("x86-64-v3");
  EXPECT_EQ(recorded_name(target, all), "");
  EXPECT_EQ(recorded_name(target, reversed), "c");
  EXPECT_EQ(recorded_name(*parse_target("x86-64-v2"), all), "");
  EXPECT_EQ(recorded_name(*parse_target("cuda:sm_90a"), all), "");
  BackEnd own = all[1];
  ASSERT_EQ(own.name, "llvm");
  EXPECT_EQ(recorded_name(target, {&own, 1}), "");
  own.passes = own.passes.first(own.passes.size() - 1);
  EXPECT_EQ(recorded_name(target, {&own, 1}), "llvm");
  own = all[1];
  own.compile = all[2].compile;
  EXPECT_EQ(recorded_name(target, {&own, 1}), "llvm");
  BackEnd device = all.back();
  device.name = "device";
  device.serves = [](const Target& one) { return !one.runs_on_cpu(); };
  EXPECT_EQ(recorded_name(*parse_target("cuda:sm_90a"), {&device, 1}), "device");
}

TEST(BackEnds, OtherTargetsAreUnsupported) {
  for (const char* text : {"aarch64;threads=2", "cuda:sm_90a"}) {
    const Target target = *parse_target(text);
    EXPECT_EQ(check_target(target).error().kind, ErrorKind::Unsupported);
    EXPECT_EQ(check_target(target).error().message,
              "no code is made for " + std::string(text) + " yet; targets are x86-64");
    for (const BackEnd& back_end : all_back_ends()) {
      if (!back_end.makes_artifacts()) continue;
      EXPECT_FALSE(compile(back_end, probe_function(), target).has_value()) << back_end.name;
    }
  }
}

// Each form is not empty and is reproducible.
TEST(BackEnds, PrintTextFormsOfCode) {
  std::set<std::string_view> names;
  const Target target = host_target(1);
  for (const BackEnd& back_end : all_back_ends()) {
    for (const TextForm& form : back_end.texts) {
      EXPECT_TRUE(names.insert(form.name).second) << form.name;
      const auto row = text_row(form.name, target);
      ASSERT_TRUE(row.has_value()) << row.error().message;
      EXPECT_EQ(row->back_end, &back_end);
      const auto text = row->form->print(probe_function(), target, {});
      ASSERT_TRUE(text.has_value()) << form.name << ": " << text.error().message;
      EXPECT_THAT(*text, HasSubstr("probe")) << form.name;
      EXPECT_EQ(*text, *form.print(probe_function(), target, {})) << form.name;
    }
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"llvm", "assembly", "header", "source"}));
  EXPECT_EQ(text_row("runes", target).error().message,
            "no back end prints its code as 'runes'; there are llvm, assembly, header, source");
  EXPECT_THAT(text_row("llvm", *parse_target("x86-64-v2")).error().message,
              HasSubstr("needs avx2"));
  EXPECT_EQ(text_row("llvm", *parse_target("cuda:sm_90")).error().kind, ErrorKind::Unsupported);
}

// The float control of a kernel's calls is that of its function, independently of the row.
TEST(BackEnds, ArtifactKeepsTheDenormalModeOfItsFunction) {
  std::vector<BackEnd> rows(all_back_ends().begin(), all_back_ends().end());
  rows.push_back({.name = "plain",
                  .purpose = "",
                  .compile = [](std::span<const ir::Function> functions, const Target&,
                                const CompileOptions&) -> Result<std::vector<runtime::Artifact>> {
                    return std::vector<runtime::Artifact>(functions.size());
                  },
                  .remedy = ""});
  std::vector<ir::Function> functions(2, probe_function());
  functions[1].name = "other";
  functions[1].denormals = true;
  for (const BackEnd& back_end : rows) {
    if (!back_end.makes_artifacts()) continue;
    const auto artifacts = compile(back_end, functions, host_target(1));
    ASSERT_TRUE(artifacts.has_value()) << artifacts.error().message;
    ASSERT_EQ(artifacts->size(), 2U) << back_end.name;
    EXPECT_FALSE((*artifacts)[0].denormals) << back_end.name;
    EXPECT_TRUE((*artifacts)[1].denormals) << back_end.name;
  }
}

TEST(BackEnds, ArtifactNamesItsLoader) {
  for (const BackEnd& back_end : all_back_ends()) {
    if (!back_end.makes_artifacts()) continue;
    runtime::Artifact artifact = *compile(back_end, probe_function(), host_target(1));
    EXPECT_EQ(artifact.kind, back_end.loader->kind);
    EXPECT_TRUE(runtime::Kernel::load(artifact).has_value()) << back_end.name;
    artifact.kind = "punched cards";
    const auto unknown = runtime::Kernel::load(artifact);
    ASSERT_FALSE(unknown.has_value());
    EXPECT_THAT(unknown.error().message, HasSubstr("no loader takes artifacts of kind 'punched"));
  }
}

}  // namespace
}  // namespace tilewright::codegen
