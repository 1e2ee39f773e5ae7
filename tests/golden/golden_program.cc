#include "golden_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "codegen/interp/interp.h"
#include "codegen/llvm/agreement_testing.h"
#include "lower/build_nest.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

constexpr std::string_view kExtension = ".golden";

std::filesystem::path golden_folder() {
  return std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "tests" / "golden";
}

std::string_view without_newline(std::string_view text) { return text.substr(0, text.find('\n')); }

// The results of the loops before any pass.
Memory meaning_of(const GoldenProgram& program) {
  const ir::Function nest =
      lower::build_nest(program.task.workload, program.task.target, program.tree, program.trace);
  Memory memory = golden_operands(program);
  std::vector<void*> pointers;
  for (std::vector<uint8_t>& bytes : memory) pointers.push_back(bytes.data());
  const Status status = codegen::interpret(nest, pointers);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return memory;
}

bool is_near(double actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= 1e-5 * std::max(1.0, std::abs(expected));
}

}  // namespace

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().extension() == kExtension) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::filesystem::path golden_path(const std::string& name) {
  return golden_folder() / fmt::format("{}{}", name, kExtension);
}

Result<GoldenProgram> load_golden_program(const std::string& name) {
  const std::string text = TRY(read_file(golden_path(name)));
  GoldenFile file = TRY(parse_golden_file(text));
  const Target target = TRY(parse_target(without_newline(file.target)));
  Workload workload = TRY(parse_workload(without_newline(file.operator_text)));
  schedule::Trace trace = TRY(schedule::trace_from_text(file.trace));
  const schedule::LoopTree initial = TRY(schedule::initial_tree(workload));
  schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return GoldenProgram{.file = std::move(file),
                       .task = {std::move(workload), target},
                       .trace = std::move(trace),
                       .tree = std::move(tree)};
}

Memory golden_operands(const GoldenProgram& program) {
  constexpr uint64_t kSeed = 1;
  const Workload& workload = program.task.workload;
  return packed_operands(workload, program.tree, make_operands(workload, kSeed));
}

void expect_right(const GoldenProgram& program, const ir::Function& function) {
  const Memory expected = meaning_of(program);
  const Memory actual = codegen::run_both(function, golden_operands(program), program.task.target,
                                          program.task.target.threads());
  if (actual.empty()) return;  // run_both has said why
  const Workload& workload = program.task.workload;
  for (size_t k = 0; k < expected.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    const ir::Scalar type = workload.dag->tensor(workload.operands[k].tensor).element;
    const auto elements = static_cast<int64_t>(expected[k].size()) / ir::bytes_of(type);
    for (int64_t e = 0; e < elements; ++e) {
      ASSERT_TRUE(is_near(element_at(actual[k], type, e), element_at(expected[k], type, e)))
          << "element " << e << " is " << element_at(actual[k], type, e) << ", before all passes "
          << element_at(expected[k], type, e) << "\n"
          << ir::to_string(function);
    }
  }
}

}  // namespace tilewright::testing
