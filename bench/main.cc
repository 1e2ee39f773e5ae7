// The main function of the benchmarks in C++. An exception becomes a line on stderr.
#include <cstdio>
#include <exception>

#include "bench/rows.h"

namespace tilewright::bench {
namespace {

int run_and_write(const Flags& flags) {
  Rows rows;
  const int status = run(flags, rows);
  rows.add_machine();
  return flags.json.empty() || rows.write(flags.json) ? status : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  try {
    return tilewright::bench::run_and_write(tilewright::bench::parse_flags(argc, argv));
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    std::fputc('\n', stderr);
    return 1;
  }
}
