#include "deploy/table.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright::deploy {
namespace {

int32_t home_of(graph::Home home) {
  switch (home) {
    case graph::Home::Input:
      return TILEWRIGHT_HOME_INPUT;
    case graph::Home::Output:
      return TILEWRIGHT_HOME_OUTPUT;
    case graph::Home::Constant:
      return TILEWRIGHT_HOME_CONSTANT;
    default:
      return TILEWRIGHT_HOME_ARENA;
  }
}

TilewrightTableFacts facts_row(const KernelFacts& facts) {
  return {.flop = facts.flop,
          .constant_bytes = facts.constant_bytes,
          .read_bytes = facts.read_bytes,
          .written_bytes = facts.written_bytes,
          .task = {facts.task.high, facts.task.low},
          .program = {facts.program.high, facts.program.low},
          .elementwise = facts.elementwise ? 1 : 0,
          .reserved = 0};
}

}  // namespace

bool keeps_denormals(const Program& program) {
  return std::ranges::any_of(program.kernels, &ProgramKernel::denormals);
}

TilewrightDataType data_type_of(ir::Scalar element) {
  enum : uint8_t { Int = 0, Uint = 1, Float = 2, Bfloat = 4, Bool = 6 };
  const uint8_t code = element == ir::Scalar::Bool   ? Bool
                       : element == ir::Scalar::BF16 ? Bfloat
                       : ir::is_float(element)       ? Float
                       : ir::is_signed(element)      ? Int
                                                     : Uint;
  return {.code = code, .bits = static_cast<uint8_t>(8 * ir::bytes_of(element)), .lanes = 1};
}

std::string needed_features(const Target& target) {
  const CpuTarget* cpu = target.cpu();
  return cpu == nullptr ? "" : cpu->code_features().text();
}

TableRows table_rows(const Program& program) {
  TableRows rows;
  rows.steps.reserve(program.steps.size());
  for (const Step& step : program.steps) {
    CHECK(step.kernel < program.kernels.size(), "step '{}' has no kernel", step.title);
    rows.steps.push_back({.kernel = static_cast<int32_t>(step.kernel),
                          .first_argument = static_cast<int32_t>(rows.arguments.size()),
                          .argument_count = static_cast<int32_t>(step.arguments.size()),
                          .reserved = 0});
    for (const Argument& argument : step.arguments) {
      rows.arguments.push_back({.home = home_of(argument.home),
                                .index = static_cast<int32_t>(argument.index),
                                .offset = argument.offset});
    }
  }
  rows.facts.reserve(program.kernels.size());
  for (const ProgramKernel& kernel : program.kernels) rows.facts.push_back(facts_row(kernel.facts));
  return rows;
}

TilewrightModelTable plain_table(const Program& program, const TableRows& rows) {
  TilewrightModelTable table{};
  table.version = TILEWRIGHT_TABLE_VERSION;
  table.denormals = keeps_denormals(program) ? 1 : 0;
  table.kernel_count = static_cast<int32_t>(program.kernels.size());
  table.argument_count = static_cast<int32_t>(rows.arguments.size());
  table.arena_bytes = program.arena_bytes;
  table.constant_bytes = program.constants.size();
  return table;
}

TilewrightModelApi plain_api(const Program& program) {
  TilewrightModelApi api{};
  api.version = TILEWRIGHT_MODEL_VERSION;
  api.threads = program.target.threads();
  api.input_count = static_cast<int32_t>(program.inputs.size());
  api.output_count = static_cast<int32_t>(program.outputs.size());
  api.step_count = static_cast<int32_t>(program.steps.size());
  return api;
}

TilewrightTensorInfo plain_info(const ProgramTensor& tensor) {
  TilewrightTensorInfo info{};
  info.type = data_type_of(tensor.type.element);
  info.rank = static_cast<int32_t>(tensor.type.shape.size());
  info.bytes = tensor.type.bytes();
  return info;
}

Hash128 hash_of_constants(const Program& program) {
  return Hasher()
      .add_text({program.constants.as<const char>(), static_cast<size_t>(program.constants.size())})
      .finish();
}

}  // namespace tilewright::deploy
