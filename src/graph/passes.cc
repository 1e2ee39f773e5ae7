#include "graph/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "graph/passes/absorb_broadcasts.h"
#include "graph/passes/absorb_transposes.h"
#include "graph/passes/cancel_transposes.h"
#include "graph/passes/channels_last.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/fold_batch_norm.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fold_scales.h"
#include "graph/passes/invert_scatters.h"
#include "graph/passes/recognize_attention.h"
#include "graph/passes/recognize_gelu.h"
#include "graph/passes/recognize_group_norm.h"
#include "graph/passes/recognize_layer_norm.h"
#include "graph/passes/recognize_silu.h"
#include "graph/passes/recognize_softmax.h"
#include "graph/passes/simplify.h"
#include "graph/passes/split_attention.h"
#include "graph/passes/winograd.h"

namespace tilewright::graph {
namespace {

constexpr Pass kFoldConstants{"fold_constants", "computes nodes whose operands are constants",
                              fold_constants};
constexpr Pass kSimplify{"simplify", "simplifies x + 0, x * 1, reshape of reshape and so on",
                         simplify};
constexpr Pass kCommon{"common_subexpressions", "merges equal nodes and constants",
                       common_subexpressions};

constexpr std::array kPasses = {
    kFoldConstants,
    kSimplify,
    kCommon,
    Pass{"invert_scatters", "turns scatters with constant indices into gathers", invert_scatters},
    Pass{"recognize_softmax", "recognizes exp / sum(exp)", recognize_softmax},
    Pass{"recognize_layer_norm", "recognizes decomposed layer_norm and rms_norm",
         recognize_layer_norm},
    Pass{"recognize_group_norm", "recognizes group norm written as an instance norm",
         recognize_group_norm},
    Pass{"recognize_gelu", "recognizes gelu written with erf or tanh", recognize_gelu},
    Pass{"recognize_silu", "recognizes decomposed sigmoid, silu, hard_swish and mish",
         recognize_silu},
    Pass{"fold_batch_norm", "folds batch norm and factors of channels into weights",
         fold_batch_norm},
    Pass{"fold_scales", "folds scalar factors of a product into its weights", fold_scales},
    Pass{"absorb_transposes", "merges transposes into contractions before or after them",
         absorb_transposes},
    Pass{"channels_last", "converts convolutions to channels last and cancels transposes",
         channels_last},
    Pass{"cancel_transposes", "merges transposes of transposes and removes identities",
         cancel_transposes},
    Pass{"absorb_broadcasts", "drops the broadcast dimensions of operands of contractions",
         absorb_broadcasts},
    // Simplify the results of the passes above.
    kSimplify,
    kFoldConstants,
    kCommon,
    Pass{"recognize_attention", "recognizes contract, softmax, contract", recognize_attention},
    Pass{"split_attention", "splits attention into three kernels where one does not pay",
         split_attention},
    Pass{"winograd", "computes 3x3 convolutions by Winograd's algorithm, if allowed", winograd},
    Pass{"dead_code", "drops nodes that no output needs", dead_code},
};

std::string names_of_passes() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) {
    if (std::ranges::count(names, pass.name) == 0) names.push_back(pass.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Result<Graph> run_passes(const Graph& graph, const PassOptions& options) {
  for (const std::string& name : options.off) {
    if (std::ranges::count(kPasses, name, &Pass::name) > 0) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("there is no pass '{}'; passes are {}", name, names_of_passes()));
  }
  Graph now = graph;
  for (const Pass& pass : kPasses) {
    if (std::ranges::count(options.off, pass.name) > 0) continue;
    TRY(check_not_stopped(options.stop));
    Result<Graph> after = pass.run(now, options);
    if (!after) {
      return fail(after.error().kind, fmt::format("pass {}: {}", pass.name, after.error().message));
    }
    now = *std::move(after);
  }
  return now;
}

}  // namespace tilewright::graph
