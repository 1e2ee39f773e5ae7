// A run worker with the loader of the made-up machine.
#include "measure/run_worker.h"
#include "tests/toys/machine/toy_machine.h"

int main(int argument_count, char** arguments) {
  return tilewright::measure::run_worker_main(argument_count, arguments,
                                              tilewright::toys::loaders_with_toy());
}
