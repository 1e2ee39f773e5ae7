#include "lower/nest_values.h"

#include <utility>

#include "base/check.h"

namespace tilewright::lower {

using ir::Expr;
using schedule::BufferIndex;
using schedule::IterKind;
using schedule::LoopVar;
using schedule::Stage;
using schedule::StageIndex;
using schedule::VarIndex;

NestValues::NestValues(const schedule::LoopTree& tree, std::vector<layout::Layout> layouts)
    : tree_(tree), live_(tree), layouts_(std::move(layouts)), values_(tree.vars.size()) {
  live_.lowering = true;
}

Expr NestValues::new_variable(const std::string& name, int64_t extent) {
  Expr variable = ir::var(name);
  bounds_[variable.as<ir::Var>()->id] = {0, extent - 1};
  return variable;
}

Expr NestValues::affine_expr(const arith::Affine& form) const {
  Expr sum;
  for (const arith::Term& term : form.terms) {
    const Expr& value = values_[term.var];
    CHECK(value.defined(), "variable {} has no value here", tree_.vars[term.var].name.text());
    const Expr product = term.coefficient == 1 ? value : value * term.coefficient;
    sum = sum.defined() ? sum + product : product;
  }
  if (!sum.defined()) return ir::int_imm(form.constant);
  return form.constant == 0 ? sum : sum + form.constant;
}

Expr NestValues::local_value(VarIndex index) const {
  const LoopVar& var = live_.var(index);
  if (value(index).defined()) return value(index);
  if (var.is_loop() && var.extent == 1) return ir::int_imm(0);  // also before its loop
  if (!var.is_split()) return {};
  Expr sum;
  for (int k = 0; k < var.parts; ++k) {
    const auto part = static_cast<VarIndex>(var.first_part + k);
    const Expr value = local_value(part);
    if (!value.defined()) return {};
    const Expr product = live_.var(part).stride == 1 ? value : value * live_.var(part).stride;
    sum = sum.defined() ? sum + product : product;
  }
  return var.shift == 0 ? sum : sum + var.shift;
}

std::vector<Expr> NestValues::axis_values(StageIndex index) const {
  const Stage& stage = live_.stage(index);
  std::vector<Expr> values;
  values.reserve(stage.axes.size());
  for (size_t a = 0; a < stage.axes.size(); ++a) {
    Expr value = local_value(stage.axes[a]);
    const bool spatial = live_.var(stage.axes[a]).kind == IterKind::Spatial;
    if (value.defined() && spatial && a < stage.origin.size()) {
      value = simplified(affine_expr(stage.origin[a]) + value);
    }
    values.push_back(value.defined() ? simplified(value) : value);
  }
  return values;
}

std::vector<Expr> NestValues::digits_of(BufferIndex buffer, const std::vector<Expr>& local) const {
  std::vector<Expr> out;
  for (const layout::Digit& digit : layouts_[static_cast<size_t>(buffer)].digits) {
    Expr value = local[digit.dim];
    if (digit.divisor > 1) value = value / digit.divisor;
    const bool outermost = digit.divisor * digit.extent >= tree_.buffer(buffer).extent[digit.dim];
    if (!outermost) value = value % digit.extent;
    out.push_back(simplified(value));
  }
  return out;
}

std::vector<Expr> NestValues::locate(BufferIndex buffer, const std::vector<Expr>& absolute) const {
  const Stage& writer = live_.stage(live_.buffer(buffer).stage);
  if (writer.place != schedule::Attachment::At) return digits_of(buffer, absolute);
  std::vector<Expr> local;
  local.reserve(absolute.size());
  for (size_t d = 0; d < absolute.size(); ++d) {
    local.push_back(simplified(absolute[d] - affine_expr(writer.origin[d])));
  }
  return digits_of(buffer, local);
}

std::vector<Expr> NestValues::element_guards(StageIndex index, IterKind kind) const {
  std::vector<Expr> guards;
  for (const LoopVar& var : live_.vars) {
    if (var.stage != index || var.kind != kind || (var.valid == 0 && !var.unordered)) continue;
    const auto self = static_cast<VarIndex>(&var - live_.vars.data());
    const auto innermost = static_cast<VarIndex>(var.first_part + var.parts - 1);
    const Expr value = local_value(var.unordered ? self : innermost);
    if (!value.defined()) continue;  // further in, or a reduction that is being initialized
    const Expr guard = simplified(value < (var.unordered ? var.extent : var.valid));
    const int64_t* known = ir::as_int(guard);
    if (known == nullptr || *known == 0) guards.push_back(guard);
  }
  return guards;
}

}  // namespace tilewright::lower
