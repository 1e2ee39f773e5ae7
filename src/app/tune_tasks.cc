#include "app/tune_tasks.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "app/allowed.h"
#include "task/parse.h"
#include "task/suite.h"

namespace tilewright::app {
namespace {

constexpr double kFlopOfByte = 8;  // FLOP that are computed while a byte is loaded from memory
constexpr double kHeavy = 0.005;   // share of the work of a model
constexpr int64_t kTrialsOfHeavy = 200;  // of a task with at least that share
constexpr int64_t kTrialsOfLight = 24;   // of any other

class TaskList {
 public:
  TaskList(const Target& target, const deploy::BackEndTables& tables)
      : target_(target), tables_(tables) {}

  void add(const Workload& workload, const std::string& name, double weight) {
    Task task{.workload = workload, .target = target_};
    const auto [place, is_new] = index_.try_emplace(task.key(), list_.tasks.size());
    if (!is_new) {
      list_.tasks[place->second].weight += weight;
      return;
    }
    list_.tasks.push_back({.task = std::move(task), .weight = weight});
    list_.names.push_back(name);
  }

  Status add_model(const ModelChoice& choice, const StopToken& stop) {
    deploy::ModelPlan plan = TRY(plan_of_model(choice, target_, tables_, stop));
    list_.of_model = true;
    for (const graph::Partition::Kernel& kernel : plan.partition.kernels) {
      const graph::Group& group = plan.partition.groups[kernel.groups.front()];
      add(group.workload, group.title, static_cast<double>(kernel.groups.size()));
    }
    list_.plans.push_back(std::move(plan));
    return {};
  }

  TuneTasks finish() {
    if (!list_.of_model) return std::move(list_);
    std::vector<size_t> order(list_.tasks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<double> work;
    work.reserve(order.size());
    for (const tune::TunedTask& one : list_.tasks) {
      work.push_back(one.weight * work_of(one.task.workload));
    }
    std::ranges::sort(order, {}, [&](size_t k) { return std::pair(-work[k], k); });
    TuneTasks sorted{.tasks = {}, .names = {}, .of_model = true, .plans = std::move(list_.plans)};
    sorted.tasks.reserve(order.size());
    sorted.names.reserve(order.size());
    for (const size_t k : order) {
      sorted.tasks.push_back(std::move(list_.tasks[k]));
      sorted.names.push_back(std::move(list_.names[k]));
    }
    return sorted;
  }

 private:
  const Target& target_;
  deploy::BackEndTables tables_;
  TuneTasks list_;
  std::map<Hash128, size_t> index_;
};

}  // namespace

double operand_bytes(const Workload& workload) {
  double bytes = 0;
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    double elements = 1;
    for (const te::Extent& extent : tensor.shape) elements *= static_cast<double>(extent.high);
    bytes += elements * ir::bytes_of(tensor.element);
  }
  return bytes;
}

double work_of(const Workload& workload) {
  return workload.dag->flop() + kFlopOfByte * operand_bytes(workload);
}

int64_t TuneTasks::default_trials() const {
  double all = 0;
  for (const tune::TunedTask& one : tasks) all += one.weight * work_of(one.task.workload);
  int64_t trials = 0;
  for (const tune::TunedTask& one : tasks) {
    const bool heavy = !of_model || one.weight * work_of(one.task.workload) >= kHeavy * all;
    trials += heavy ? kTrialsOfHeavy : kTrialsOfLight;
  }
  return trials;
}

Result<TuneTasks> tune_tasks_of(const std::vector<std::string>& words, const ModelChoice& choice,
                                const Target& target, const deploy::BackEndTables& tables,
                                const StopToken& stop) {
  if (words.empty()) {
    return fail(ErrorKind::BadInput,
                "nothing to tune; name a model, such as resnet50.onnx, or an operator");
  }
  // Operators that are tuned together with a model get those permissions that apply to operators.
  const bool has_models = std::ranges::any_of(words, is_model_file);
  FloatPermissions permissions =
      TRY(has_models ? model_permissions(choice.allow) : operator_permissions(choice.allow));
  permissions.winograd = false;
  TaskList list(target, tables);
  for (const std::string& word : words) {
    TRY(check_not_compiled(word));
    if (is_model_file(word)) {
      ModelChoice one = choice;
      one.what = word;
      TRY(list.add_model(one, stop));
      continue;
    }
    std::vector<std::string> names = {word};
    if (word == "suite") {
      names.clear();
      names.reserve(suite_rows().size());
      for (const SuiteRow& row : suite_rows()) names.emplace_back(row.name);
    }
    for (const std::string& name : names) {
      const Workload workload = TRY(operator_named(name, permissions));
      list.add(workload, workload.text, 1);
    }
  }
  return list.finish();
}

}  // namespace tilewright::app
