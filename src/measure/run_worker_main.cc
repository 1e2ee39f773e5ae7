#include "measure/run_worker.h"

int main(int argument_count, char** arguments) {
  return tilewright::measure::run_worker_main(argument_count, arguments);
}
