// A build worker with the compiler of the made-up machine.
#include "measure/build_worker.h"
#include "tests/toys/machine/toy_machine.h"

int main(int argument_count, char** arguments) {
  using namespace tilewright;  // NOLINT(google-build-using-namespace): a main function
  const std::vector<codegen::BackEnd> rows = toys::back_ends_with_toy();
  return measure::build_worker_main(argument_count, arguments, {.back_ends = rows});
}
