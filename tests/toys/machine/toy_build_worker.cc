// A build worker with the toy machine's compiler beside those of the program.
#include "measure/build_worker.h"
#include "toy_machine.h"

int main(int argument_count, char** arguments) {
  using namespace tilewright;  // NOLINT(google-build-using-namespace): a main function
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  std::vector<codegen::BackEnd> rows(all.begin(), all.end());
  rows.push_back(toys::toy_back_end());
  return measure::build_worker_main(argument_count, arguments, {.back_ends = rows});
}
