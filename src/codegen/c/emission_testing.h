// CEmissionTest: a C function without a kernel around it, into which one collaborator of the
// emitter writes. It has the buffers A (read) and B (written) of F32 and the index i in [0, 99];
// pieces have up to 8 lanes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/c/c_emission.h"

namespace tilewright::codegen {

class CEmissionTest : public ::testing::Test {
 protected:
  static constexpr ir::BufferId kA = 0, kB = 1, kRegister = 2, kWorkspace = 3;

  CEmissionTest() {
    frame_.buffers = {frame_.text.fresh("A"), frame_.text.fresh("B"), "", ""};
    frame_.vars[i_.as<ir::Var>()->id] = {
        .type = ir::kIndex, .pieces = {{frame_.text.fresh("i")}}, .range = {0, 99}};
  }

  static ir::Expr load_a(const ir::Expr& index) {
    return ir::load(ir::kF32.with_lanes(index.type().lanes), kA, {index});
  }

  const ir::Expr i_ = ir::var("i");
  const ir::Function function_{
      .name = "f",
      .buffers = {{.name = "A", .element = ir::kF32, .shape = {512}},
                  {.name = "B", .element = ir::kF32, .shape = {512}},
                  {.name = "r", .element = ir::kF32, .shape = {1}, .scope = ir::Scope::Register},
                  {.name = "w", .element = ir::kF32, .shape = {16}, .scope = ir::Scope::Workspace}},
      .arguments = {kA, kB},
      .argument_written = {false, true},
      .body = {}};
  const WorkspacePlan plan_{.offset = {0, 0, 0, 128}};
  Helpers helpers_;
  CEmission emission_{.function = function_,
                      .plan = plan_,
                      .symbol = "f",
                      .helpers = helpers_,
                      .limit = 8,
                      .tasks_text = {},
                      .error = {}};
  CFrame frame_;
};

}  // namespace tilewright::codegen
