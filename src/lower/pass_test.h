// Shared by the tests of passes: functions built by hand, and their text after a pass.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/print.h"
#include "ir/stmt.h"
#include "ir/verify.h"
#include "lower/pass.h"

namespace tilewright::lower {

class Kernel {
 public:
  Kernel() { function.name = "kernel"; }

  ir::Function function;

  ir::BufferId argument(std::string name, std::vector<int64_t> shape, ir::Type element = ir::kF32) {
    const ir::BufferId id = add(std::move(name), std::move(shape), element, ir::Scope::Argument);
    function.arguments.push_back(id);
    function.argument_written.push_back(true);
    return id;
  }
  ir::BufferId local(std::string name, std::vector<int64_t> shape, ir::Type element = ir::kF32,
                     ir::Scope scope = ir::Scope::Thread) {
    return add(std::move(name), std::move(shape), element, scope);
  }

  ir::Expr load(ir::BufferId buffer, std::vector<ir::Expr> indices) const {
    return ir::load(function.buffers[buffer].element.scalar, buffer, std::move(indices));
  }

  std::string text() const {
    return ir::to_string(function.body,
                         [this](ir::BufferId id) { return function.buffers[id].name; });
  }

  // The text after the pass, or the error of the verifier.
  std::string after(PassFunction pass, FloatPermissions permissions = {}, int vector_bits = 512) {
    return after(pass, CpuTarget{.vector_bits = vector_bits}, permissions);
  }
  std::string after(PassFunction pass, const Target& target, FloatPermissions permissions = {}) {
    pass(function, {target, permissions});
    const Status status = ir::verify(function);
    return status ? text() : status.error().message;
  }

  // True if the pass returns the same statement node.
  bool unchanged_by(PassFunction pass, FloatPermissions permissions = {}) {
    const ir::Stmt before = function.body;
    after(pass, permissions);
    return function.body.same_as(before);
  }

 private:
  ir::BufferId add(std::string name, std::vector<int64_t> shape, ir::Type element,
                   ir::Scope scope) {
    function.buffers.push_back(
        {.name = std::move(name), .element = element, .shape = std::move(shape), .scope = scope});
    return static_cast<ir::BufferId>(function.buffers.size() - 1);
  }
};

inline ir::Stmt loop(const ir::Expr& var, int64_t extent, ir::Stmt body,
                     ir::ForKind kind = ir::ForKind::Serial, Name intrinsic = {}) {
  return ir::make_for(var, ir::int_imm(extent), kind, std::move(body), intrinsic);
}

}  // namespace tilewright::lower
