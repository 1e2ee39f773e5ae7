#include "bench/peers/onednn/variant.h"

#include <array>
#include <utility>

namespace onednn_peer {

std::vector<Variant> in_all_layouts(const std::function<Program(Context&, Layout)>& make) {
  constexpr std::array kLayouts = {std::pair{Layout::Plain, "plain layouts"},
                                   std::pair{Layout::PackedWeights, "packed weights"},
                                   std::pair{Layout::Free, "free layouts"}};
  std::vector<Variant> variants;
  for (const auto& [layout, name] : kLayouts) {
    const Layout chosen = layout;
    variants.push_back({name, [make, chosen](Context& context) { return make(context, chosen); }});
  }
  return variants;
}

memory::desc activation(const memory::desc& user, Layout layout) {
  return layout == Layout::Free ? any(user) : user;
}

memory::desc weight(const memory::desc& user, Layout layout) {
  return layout == Layout::Plain ? user : any(user);
}

std::function<memory(Context&)> laid_out(const memory& output, const memory::desc& user) {
  return [=](Context& context) { return context.lay_out(output, user); };
}

}  // namespace onednn_peer
