#include "runtime/host/loader.h"

#include "runtime/host/timer.h"

namespace tilewright::runtime {

double LoadedCode::time(const TilewrightCall& call, int64_t calls, int32_t* status) const {
  int32_t any = 0;
  const KernelEntry direct = entry();
  const int64_t begin = now_ns();
  for (int64_t k = 0; k < calls; ++k) any |= direct != nullptr ? direct(&call) : this->call(call);
  const auto ns = static_cast<double>(now_ns() - begin);
  *status |= any;
  return ns;
}

}  // namespace tilewright::runtime
