#include "app/tune_tally.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tilewright::app {
namespace {

// Each run of digits becomes one `#`.
std::string without_numbers(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !result.empty() && result.back() == '#') continue;
    result += digit ? '#' : c;
  }
  return result;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find('\n'), size_t{160})));
}

}  // namespace

void TuneTally::add(const tune::Trial& trial) {
  (trial.stored ? stored : measured) += 1;
  by_kind[static_cast<size_t>(trial.kind)] += 1;
  if (!record::is_failure(trial.kind)) return;
  const std::string kind(text_of(trial.kind));
  FailureGroup& group = failures[kind + " " + without_numbers(first_line(trial.text))];
  if (group.count++ > 0) return;
  group.kind = trial.kind;
  group.example = first_line(trial.text);
}

double TuneTally::trials_per_s(double elapsed_s) const {
  return elapsed_s > 0 ? static_cast<double>(measured) / elapsed_s : 0;
}

double TuneTally::scored_per_s() const {
  return search_s > 0 ? static_cast<double>(scored) / search_s : 0;
}

double TuneTally::gflops() const { return gflops_of(flop, best_ns); }

double TuneTally::peak_reached(double peak_gflops) const {
  const double peak = peak_gflops * peak_share;
  return peak > 0 ? gflops() / peak : 0;
}

double peak_share_of(const Workload& workload) {
  const te::Dag& dag = *workload.dag;
  double max_flop = -1;
  ir::Scalar type = ir::Scalar::F32;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    const te::Op& op = dag.op(id);
    if (op.kind == te::OpKind::Placeholder || dag.flop(id) <= max_flop) continue;
    max_flop = dag.flop(id);
    type = op.has_reduction() ? op.reduction->identity[0].type().scalar
                              : dag.tensor(op.outputs[0]).element;
  }
  if (!ir::is_float(type)) return 0;
  return type == ir::Scalar::F64 ? 0.5 : 1;
}

}  // namespace tilewright::app
