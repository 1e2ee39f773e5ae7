#include "measure/build_worker.h"

int main(int argument_count, char** arguments) {
  return tilewright::measure::build_worker_main(argument_count, arguments);
}
