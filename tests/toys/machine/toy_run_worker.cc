// A run worker with the toy machine's loader beside those of the program.
#include "measure/run_worker.h"
#include "toy_machine.h"

int main(int argument_count, char** arguments) {
  return tilewright::measure::run_worker_main(argument_count, arguments,
                                              tilewright::toys::loaders_with_toy());
}
