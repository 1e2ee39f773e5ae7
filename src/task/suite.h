// The operator suite: the named workloads used by the benchmarks and in papers (bench/suite.json,
// embedded in the program). `C2D2` is a workload with batch 1; the suffix `.b16` multiplies its
// batch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright {

struct SuiteRow {
  std::string name;  // `C2D2`
  std::string op;    // name in the operator table
  double flop = 0;   // 2 x multiply-adds of the direct algorithm, at batch 1
};

const std::vector<SuiteRow>& suite_rows();  // in the order of the file

bool is_suite_name(std::string_view name);  // with or without a batch suffix

// The workload; its text is the suite name. Fails for unknown names and absurd batches.
Result<Workload> suite_workload(std::string_view name);

}  // namespace tilewright
